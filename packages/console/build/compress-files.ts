import { readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { brotliCompress, constants, gzip } from 'node:zlib'

const COMPRESSED = /\.(?:js|css|html|svg)$/
/** Below this size a compressed twin saves no packet. */
const COMPRESSED_BYTES_MIN = 1_024

/** Writes `.br` and `.gz` beside each file, so that the server compresses nothing. */
export async function compressFiles(folder: string): Promise<void> {
  const paths = readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter((path) =>
    COMPRESSED.test(path),
  )
  await Promise.all(
    paths.map(async (path) => {
      const file = join(folder, path)
      const bytes = readFileSync(file)
      if (bytes.length < COMPRESSED_BYTES_MIN) return
      const [packed, zipped] = await Promise.all([
        promisify(brotliCompress)(bytes, { params: { [constants.BROTLI_PARAM_QUALITY]: 11 } }),
        promisify(gzip)(bytes, { level: 9 }),
      ])
      writeFileSync(`${file}.br`, packed)
      writeFileSync(`${file}.gz`, zipped)
    }),
  )
}
