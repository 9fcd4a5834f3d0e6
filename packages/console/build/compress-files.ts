import { readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { gzip } from 'node:zlib'

const COMPRESSED = /\.(?:js|css|html|svg)$/
/** A smaller file is left as it is: one packet of the network would be saved, if any. */
export const COMPRESSED_BYTES_MIN = 2_500

/**
 * Writes a `.gz` in place of each file, so that the server compresses nothing and a package has each file once. Brotli would
 * save an eighth more, but a browser takes it only where the address is encrypted or local.
 */
export async function compressFiles(folder: string): Promise<void> {
  const paths = readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter((path) =>
    COMPRESSED.test(path),
  )
  await Promise.all(
    paths.map(async (path) => {
      const file = join(folder, path)
      const bytes = readFileSync(file)
      if (bytes.length < COMPRESSED_BYTES_MIN) return
      writeFileSync(`${file}.gz`, await promisify(gzip)(bytes, { level: 9 }))
      rmSync(file)
    }),
  )
}
