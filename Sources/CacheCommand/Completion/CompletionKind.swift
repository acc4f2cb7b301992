/// The kind of values that an option or operand takes, as far as a shell can complete them.
enum CompletionKind: Equatable {
    case nothing
    case files
    case directories
    case words([String])
    case caches
    case apps
    case keys
    case subcommands

    /// The kind of an option's values.
    init(of option: any DeclaredOption) {
        let words = option.words
        switch (option.declaration.name, option.declaration.placeholder) {
        case _ where !words.isEmpty: self = .words(words)
        case ("cache", _): self = .caches
        case ("app", _): self = .apps
        case (_, "DIR"): self = .directories
        case (_, "PATH"), (_, "FILE"): self = .files
        default: self = .nothing
        }
    }

    /// The kind of a subcommand's operands.
    ///
    /// - Parameter hasCache: whether the command line names a cache.
    init(of operand: OperandDeclaration, hasCache: Bool) {
        switch operand.placeholder {
        case "FILE|KEY": self = hasCache ? .keys : .files
        case "KEY": self = .keys
        case "CACHE": self = .caches
        case "SUBCOMMAND": self = .subcommands
        case "SHELL": self = .words(CompletionShell.allCases.map(\.rawValue))
        case "DIR": self = .directories
        case "FILE", "PATH", "SOURCE": self = .files
        default: self = .nothing
        }
    }
}

/// The shells that have completions.
enum CompletionShell: String, CaseIterable, Sendable {
    case bash
    case zsh
    case fish
}

extension CompletionShell {
    /// Has the shell ask the subcommand `complete`, whose records end with a NUL each, so that a key may hold anything.
    var script: String {
        switch self {
        case .bash:
            #"""
            # Completions of typed-cache for bash 4.4 and later. Made by: typed-cache completions bash
            _typed_cache() {
                local record files=
                COMPREPLY=()
                while IFS= read -r -d '' record; do
                    if [[ -z $files ]]; then files=$record; else COMPREPLY+=("$record"); fi
                done < <("${1/#\~/$HOME}" complete --shell bash "--word=$2" -- "$1" "${COMP_LINE:0:COMP_POINT}" 2>/dev/null)
                case $files in
                files) compopt -o default ;;
                directories) compopt -o dirnames ;;
                esac
            }
            complete -F _typed_cache typed-cache

            """#
        case .zsh:
            #"""
            #compdef typed-cache
            # Completions of typed-cache for zsh. Made by: typed-cache completions zsh
            _typed-cache() {
                local files answer
                local -a records values shown keys
                local value meaning
                answer=$(${~words[1]} complete --shell zsh -- "${words[1]}" \
                    "${(j: :)words[1,CURRENT-1]} $QIPREFIX$IPREFIX$PREFIX" 2>/dev/null; print -n x)
                records=("${(@0)answer%$'\0'x}")
                files=$records[1]
                shift records
                for value meaning in "${(@)records}"; do
                    if [[ -n $meaning ]]; then
                        values+=("$value")
                        shown+=("$value  -- $meaning")
                    else
                        keys+=("$value")
                    fi
                done
                case $files in
                files) _files ;;
                directories) _files -/ ;;
                *)
                    if (( $#values )); then compadd -l -d shown -a values; fi
                    if (( $#keys )); then compadd -a keys; fi
                    ;;
                esac
            }
            if [[ $funcstack[1] == _typed-cache ]]; then _typed-cache "$@"; else compdef _typed-cache typed-cache; fi

            """#
        case .fish:
            #"""
            # Completions of typed-cache for fish. Made by: typed-cache completions fish
            function __typed_cache_complete
                set -l words (commandline -opc)
                set -l command (string replace -r '^~/' "$HOME/" -- $words[1])
                set -e words[1]
                set -l typed (commandline -ct | string collect)
                # Quotes that are still open cannot be taken off as a pair.
                set -l current (string unescape -- "$typed" | string collect)
                or set current (string unescape -- "$typed'" | string collect)
                or set current (string unescape -- "$typed\"" | string collect)
                or set current (string replace -r '\\\\$' '' -- "$typed" | string collect)
                set -l records ($command complete --shell fish -- $words "$current" 2>/dev/null | string split0)
                switch "$records[1]"
                    case files
                        __fish_complete_path "$current"
                    case directories
                        __fish_complete_directories "$current" ''
                    case '*'
                        set -e records[1]
                        if set -q records[1]
                            string join0 -- $records | string split0
                        end
                end
            end
            complete -c typed-cache -f -a '(__typed_cache_complete)'

            """#
        }
    }
}
