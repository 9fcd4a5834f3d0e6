/** Says how a database writes comments and texts. */
export type SqlDialect = 'mysql' | 'postgres'

/** The first words of one statement, in capitals. */
export type Opening = readonly string[]

const WORDS_MAX = 3

/**
 * Reads the first words of each statement of a text, without the blanks and comments before them. MySQL runs what stands in a comment
 * that begins with `!`, so it is no comment here. Where a text cannot be divided for certain, its later statements may be missing.
 */
export function readOpenings(text: string, dialect: SqlDialect): readonly Opening[] {
  const openings: Opening[] = []
  let at = 0
  while (at !== NOWHERE) {
    const { words, end } = readOpening(text, at, dialect)
    if (words.length > 0) openings.push(words)
    if (mayHaveBody(words, dialect)) break
    at = text.includes(';', end) ? findNextStatement(text, end, dialect) : NOWHERE
  }
  return openings
}

const NOWHERE = -1

/** MariaDB runs these outside of routines, too. */
const COMPOUND: ReadonlySet<unknown> = new Set(['IF', 'CASE', 'WHILE', 'FOR', 'LOOP', 'REPEAT', 'DECLARE'])

/** Tells whether a statement may have semicolons within it: the body of a routine or an event, or a compound statement. */
function mayHaveBody(opening: Opening, dialect: SqlDialect): boolean {
  const [first, second] = opening
  if (first === 'CREATE') return true
  if (dialect === 'postgres') return false
  if (first === 'ALTER') return second === 'EVENT' || second === 'DEFINER'
  return COMPOUND.has(first) || opensBlock(opening)
}

/** Tells of MariaDB's block of statements: BEGIN NOT ATOMIC, or in its mode for Oracle's language BEGIN before any statement. */
export function opensBlock([first, second = 'WORK']: Opening): boolean {
  return first === 'BEGIN' && second !== 'WORK'
}

function readOpening(text: string, from: number, dialect: SqlDialect): { words: string[]; end: number } {
  const words: string[] = []
  let at = from
  while (words.length < WORDS_MAX) {
    at = skipBlanks(text, at, dialect)
    if (dialect === 'mysql' && words[0] === 'SET') at = skipMarks(text, at)
    const end = findWordEnd(text, at)
    if (end === at) break
    words.push(text.slice(at, end).toUpperCase())
    at = end
  }
  return { words, end: at }
}

/** Skips what stands around the names of a system variable (`@@session.autocommit`). One `@` is that of a user's variable. */
function skipMarks(text: string, from: number): number {
  let at = from
  while (text.startsWith('@@', at) || text[at] === '.' || text[at] === '`')
    at = skipBlanks(text, at + (text[at] === '@' ? 2 : 1), 'mysql')
  return at
}

function findWordEnd(text: string, from: number): number {
  let at = from
  while (isWordCode(text.charCodeAt(at))) at++
  return at
}

/** Tells of letters, digits and `_`. Databases take all beyond ASCII for letters. It is false for the NaN behind the end of a text. */
function isWordCode(code: number): boolean {
  const lower = code | 0x20
  return (lower >= 0x61 && lower <= 0x7a) || isDigitCode(code) || code === 0x5f || code >= 0x80
}

function isDigitCode(code: number): boolean {
  return code >= 0x30 && code <= 0x39
}

const BLANK_CODE_MAX = 0x20

function skipBlanks(text: string, from: number, dialect: SqlDialect): number {
  let at = from
  while (at < text.length) {
    const next = text.charCodeAt(at) <= BLANK_CODE_MAX ? at + 1 : skipComment(text, at, dialect)
    if (next === at) break
    at = next
  }
  return at
}

/** Returns the place behind a comment, or the same place if there is none. */
function skipComment(text: string, at: number, dialect: SqlDialect): number {
  const sign = text[at]
  if (dialect === 'mysql' && sign === '#') return findLineEnd(text, at, dialect)
  if (text.startsWith('--', at) && isDashComment(text, at, dialect)) return findLineEnd(text, at, dialect)
  if (text.startsWith('/*', at)) return dialect === 'mysql' ? skipMysqlBlock(text, at) : skipNested(text, at)
  // It ends a comment whose content MySQL runs.
  return dialect === 'mysql' && text.startsWith('*/', at) ? at + 2 : at
}

/** MySQL takes two dashes for a comment only before a blank. */
function isDashComment(text: string, at: number, dialect: SqlDialect): boolean {
  const code = text.charCodeAt(at + 2)
  return dialect === 'postgres' || Number.isNaN(code) || code <= BLANK_CODE_MAX
}

function findLineEnd(text: string, from: number, dialect: SqlDialect): number {
  if (dialect === 'mysql') return toPlace(text, text.indexOf('\n', from))
  // A search for either sign alone would read the whole text for each line.
  let at = from
  while (at < text.length && text[at] !== '\n' && text[at] !== '\r') at++
  return at
}

function toPlace(text: string, found: number): number {
  return found === NOWHERE ? text.length : found
}

function skipMysqlBlock(text: string, at: number): number {
  const isRun = text[at + 2] === '!' || text.startsWith('M!', at + 2)
  if (!isRun) return toPlace(text, skipTo(text, '*/', at + 2))
  let end = text.indexOf('!', at) + 1
  while (isDigitCode(text.charCodeAt(end))) end++
  return end
}

function skipTo(text: string, mark: string, from: number): number {
  const found = text.indexOf(mark, from)
  return found === NOWHERE ? NOWHERE : found + mark.length
}

/** PostgreSQL's comments hold comments. */
function skipNested(text: string, from: number): number {
  let depth = 0
  let at = from
  while (at < text.length) {
    const pair = text.slice(at, at + 2)
    if (pair === '/*') depth++
    if (pair === '*/') depth--
    at += pair === '/*' || pair === '*/' ? 2 : 1
    if (depth === 0) break
  }
  return at
}

/** Returns the place behind the next semicolon that is in no text, name or comment. */
function findNextStatement(text: string, from: number, dialect: SqlDialect): number {
  let at = from
  while (at < text.length) {
    if (text[at] === ';') return at + 1
    const behind = skipComment(text, at, dialect)
    at = behind === at ? skipQuoted(text, at, dialect) : behind
  }
  return NOWHERE
}

/** Returns the place behind a quoted text or name, or the next place if none begins here. */
function skipQuoted(text: string, at: number, dialect: SqlDialect): number {
  const sign = text[at]
  if (sign === '$' && dialect === 'postgres') return skipDollars(text, at)
  if (sign !== "'" && sign !== '"' && !(sign === '`' && dialect === 'mysql')) return at + 1
  const escapes = sign !== '`' && (dialect === 'mysql' || (sign === "'" && isEscaping(text, at)))
  for (let end = at + 1; end < text.length; end++) {
    if (text[end] === sign) return end + 1
    if (escapes && text[end] === '\\') end++
  }
  return text.length
}

/** PostgreSQL knows escapes in a text that stands behind a single E. */
function isEscaping(text: string, at: number): boolean {
  return (text.charCodeAt(at - 1) | 0x20) === 0x65 && !isWordCode(text.charCodeAt(at - 2))
}

function skipDollars(text: string, at: number): number {
  const end = findWordEnd(text, at + 1)
  // A digit makes it a parameter ($1).
  const isTag = text[end] === '$' && !isDigitCode(text.charCodeAt(at + 1))
  if (!isTag || isWordCode(text.charCodeAt(at - 1))) return at + 1
  const tag = text.slice(at, end + 1)
  return toPlace(text, skipTo(text, tag, end + 1))
}
