print("typed-cache")
