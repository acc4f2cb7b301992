/// About how wide text is in a usual sans-serif font; rather too much than too little, so that nothing overlaps.
enum TextWidth {
    static func of(_ text: String, size: Double = ChartStyle.textSize) -> Double {
        text.reduce(0) { $0 + width(of: $1) } * size
    }

    private static func width(of character: Character) -> Double {
        switch character {
        case "i", "j", "l", "t", "f", "I", ".", ",", ":", ";", "'", "|", "!", " ", "(", ")": 0.4
        case "m", "w", "M", "W", "%", "@": 1.0
        case "A"..."Z": 0.75
        default: 0.63
        }
    }
}
