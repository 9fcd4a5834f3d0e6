import { readdir, readFile } from 'node:fs/promises'
import { extname, join, sep } from 'node:path'
import { promisify } from 'node:util'
import { gunzip } from 'node:zlib'

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
const HIDDEN = /(?:^|[/\\])\./
const COMPRESSED = /\.gz$/

/**
 * Reads all files of a built console, which are less than a megabyte. Callers need no key to ask for them, and a request that
 * opens a file costs several times what one costs that is answered from memory. A large file is stored as a `.gz`. A hidden file
 * is none of the console's.
 */
export async function readConsoleFiles(folder: string): Promise<ConsoleFiles> {
  const files = new Map<string, ConsoleFile>()
  for (const stored of await readdir(folder, { recursive: true })) {
    const name = stored.replace(COMPRESSED, '')
    const type = TYPES[extname(name)]
    if (type === undefined || HIDDEN.test(name)) continue
    const read = await readFile(join(folder, stored))
    const isPlain = name === stored
    const file = isPlain ? { bytes: read } : { bytes: await promisify(gunzip)(read), gzipped: read }
    files.set(name.split(sep).join('/'), { type, ...file })
  }
  return files
}

/** More codings, or parameters of one, are not looked at: a head may have thousands. */
const CODINGS_MAX = 16

/** Tells whether a caller takes gzip, by its `accept-encoding`. RFC 9110, 12.5.3: a weight of 0 means that it does not. */
export function takesGzip(acceptEncoding = ''): boolean {
  return acceptEncoding.split(',', CODINGS_MAX).some((each) => {
    const [coding, ...parameters] = each.split(';', CODINGS_MAX).map((part) => part.trim().toLowerCase())
    return coding === 'gzip' && !parameters.some((parameter) => /^q=0(?:\.0*)?$/.test(parameter))
  })
}
