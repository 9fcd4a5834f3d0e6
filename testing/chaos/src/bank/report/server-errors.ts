import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'

const ERROR_LINE = /^\{"level":(50|60)/gm

/** Counts the lines that servers logged as errors: none is expected, even when the store and the banks fail. */
export async function countServerErrors(logFolder: string): Promise<number> {
  const names = (await readdir(logFolder)).filter((name) => name.startsWith('server-'))
  const texts = await Promise.all(names.map((name) => readFile(join(logFolder, name), 'utf8')))
  return texts.reduce((sum, text) => sum + [...text.matchAll(ERROR_LINE)].length, 0)
}
