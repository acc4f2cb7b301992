/// The text that `--help` prints.
enum HelpText {
    static let text = """
        usage: benchmarks [suite …] [--quick] [--output FOLDER] [--gate FILE]
               benchmarks --compare BEFORE.json AFTER.json
               benchmarks --report RESULTS.json [--output FOLDER]
               benchmarks --list | --help

        Measures the suites that are named, or all, and prints a table for each. Results go to the folder
        Benchmarks/Results, with a report if all suites ran.

          --quick          fewer and shorter samples; writes no results unless --output is given
          --output FOLDER  where results and report go instead
          --gate FILE      fail if a bound in this file does not hold
          --compare        show what became faster or slower from one file of results to another
          --report         draw the report from a file of results
          --list           show the suites
        """
}
