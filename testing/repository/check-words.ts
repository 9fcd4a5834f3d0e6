import { isCode, type SourceTree, type Violation } from './source-tree.ts'

const OPENER = /^(Of|As|By|To|With|What)\b/
const PERSON = /\b(?:nobody|somebody|whoever|anybody|everybody)\b/i

/** A comment is a whole sentence with a subject, and calls a process, a node or a caller by its name. */
export function checkWords(tree: SourceTree): Violation[] {
  return [...tree].filter(([path]) => isCode(path)).flatMap(([path, text]) => faultsIn(path, text))
}

function faultsIn(path: string, text: string): Violation[] {
  return readComments(text).flatMap(({ line, words }) => {
    const opener = OPENER.exec(words)?.[1]
    const person = PERSON.exec(words)?.[0]
    return [
      ...(opener === undefined ? [] : [fault(path, line, `the comment opens with "${opener}"`)]),
      ...(person === undefined ? [] : [fault(path, line, `"${person}" names no process and no caller`)]),
    ]
  })
}

function fault(path: string, line: number, detail: string): Violation {
  return { rule: 'words', path, detail: `line ${line}: ${detail}` }
}

interface Comment {
  /** The line of its first word, counted from one. */
  readonly line: number
  readonly words: string
}

/** Reads the comments that begin a line: blocks, and runs of lines that begin with `//`. */
function readComments(text: string): readonly Comment[] {
  const comments: Comment[] = []
  const lines = text.split('\n')
  for (let at = 0; at < lines.length; at++) {
    const from = at
    const words: string[] = []
    if (/^\s*\/\*/.test(lines[at] ?? '')) {
      while (at < lines.length) {
        words.push((lines[at] ?? '').replace(/^\s*(?:\/\*\*?|\*(?!\/))/, '').replace(/\*\/.*$/, ''))
        if ((lines[at] ?? '').includes('*/')) break
        at++
      }
    } else {
      while (/^\s*\/\//.test(lines[at] ?? '')) words.push((lines[at++] ?? '').replace(/^\s*\/\//, ''))
      if (words.length > 0) at--
    }
    if (words.length > 0)
      comments.push({ line: from + 1, words: words.join(' ').replace(/\s+/g, ' ').trim() })
  }
  return comments
}
