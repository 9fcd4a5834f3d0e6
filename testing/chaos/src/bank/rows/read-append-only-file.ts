import { createReadStream } from 'node:fs'
import { readdir } from 'node:fs/promises'
import { join } from 'node:path'

const FOLDER = 'appendonlydir'
/** The commands since the start. A file that was written anew would have the next number. */
const FILE = /^appendonly\.aof\.(\d+)\.incr\.aof$/
const CARRIAGE_RETURN_AND_LINE_FEED = 2

/** Reads all commands that a Redis 7 with an append-only file has made durable, in their order. A script stands there as the commands that it called. */
export async function* readAppendOnlyFile(dataFolder: string): AsyncGenerator<readonly string[]> {
  const folder = join(dataFolder, FOLDER)
  const files = (await readdir(folder)).filter((name) => FILE.test(name))
  const [file] = files
  if (file === undefined || files.length > 1 || FILE.exec(file)?.[1] !== '1')
    throw new Error(`${folder} does not have the whole history: ${files.join(', ')}`)
  let rest = Buffer.alloc(0)
  for await (const chunk of createReadStream(join(folder, file))) {
    rest = Buffer.concat([rest, chunk as Buffer])
    let from = 0
    for (let read = readCommand(rest, from); read !== undefined; read = readCommand(rest, from)) {
      yield read.words
      from = read.endsAt
    }
    rest = rest.subarray(from)
  }
}

/** Reads `*2\r\n$3\r\nGET\r\n$1\r\na\r\n`. Undefined: its end is not there yet. */
function readCommand(
  bytes: Buffer,
  from: number,
): { readonly words: readonly string[]; readonly endsAt: number } | undefined {
  const head = readNumber(bytes, from, '*')
  if (head === undefined) return undefined
  const words: string[] = []
  let at = head.endsAt
  for (let count = head.number; count > 0; count--) {
    const length = readNumber(bytes, at, '$')
    if (length === undefined) return undefined
    const endsAt = length.endsAt + length.number
    if (endsAt + CARRIAGE_RETURN_AND_LINE_FEED > bytes.length) return undefined
    words.push(bytes.toString('utf8', length.endsAt, endsAt))
    at = endsAt + CARRIAGE_RETURN_AND_LINE_FEED
  }
  return { words, endsAt: at }
}

function readNumber(bytes: Buffer, from: number, sign: string) {
  const end = bytes.indexOf('\r\n', from)
  if (end < 0) return undefined
  const text = bytes.toString('latin1', from, end)
  if (text[0] !== sign)
    throw new Error(`the file of commands has ${JSON.stringify(text)} where ${sign} is expected`)
  return { number: Number(text.slice(1)), endsAt: end + CARRIAGE_RETURN_AND_LINE_FEED }
}
