import { readdir, readFile } from 'node:fs/promises'
import { extname, join, sep } from 'node:path'

/** A file of the built console. */
export interface ConsoleFile {
  /** It is the value of `content-type`. */
  readonly type: string
  readonly bytes: Buffer
  readonly gzipped?: Buffer
}

/** The files of one build by their paths within its folder, which have slashes. */
export type ConsoleFiles = ReadonlyMap<string, ConsoleFile>

const TYPES: Readonly<Record<string, string>> = {
  '.css': 'text/css; charset=utf-8',
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.svg': 'image/svg+xml',
}
const COMPRESSED = '.gz'

/**
 * Reads all files of a built console, which are less than a megabyte. Anyone may ask for them, and a request that opens a file
 * costs several times what one costs that is answered from memory. A `.gz` goes with the file whose name it continues. A hidden
 * file is none of the console's.
 */
export async function readConsoleFiles(folder: string): Promise<ConsoleFiles> {
  const names = (await readdir(folder, { recursive: true })).filter((name) => !/(?:^|[/\\])\./.test(name))
  const files = new Map<string, ConsoleFile>()
  for (const name of names) {
    const type = TYPES[extname(name)]
    if (type === undefined) continue
    const bytes = await readFile(join(folder, name))
    const compressed = name + COMPRESSED
    const gzipped = names.includes(compressed) ? { gzipped: await readFile(join(folder, compressed)) } : {}
    files.set(name.split(sep).join('/'), { type, bytes, ...gzipped })
  }
  return files
}

/** Tells whether a caller takes gzip, by its `accept-encoding`. RFC 9110, 12.5.3: a weight of 0 means that it does not. */
export function takesGzip(acceptEncoding = ''): boolean {
  return acceptEncoding.split(',').some((each) => {
    const [coding, ...parameters] = each.split(';').map((part) => part.trim().toLowerCase())
    return coding === 'gzip' && !parameters.some((parameter) => /^q=0(?:\.0*)?$/.test(parameter))
  })
}
