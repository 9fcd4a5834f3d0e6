import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { readAppendOnlyFile } from '../src/bank/rows/read-append-only-file.ts'

let folder = ''
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'counterstep-append-only-'))
  await mkdir(join(folder, 'appendonlydir'))
})
afterEach(() => rm(folder, { recursive: true }))

async function write(name: string, text: string): Promise<void> {
  await writeFile(join(folder, 'appendonlydir', name), text)
}

async function readAll(): Promise<readonly (readonly string[])[]> {
  const commands = []
  for await (const command of readAppendOnlyFile(folder)) commands.push(command)
  return commands
}

it('The commands of a Redis are read in their order, also over the ends of what is read at once', async () => {
  // A text of this length is read in several parts, and its letters have two bytes.
  const long = 'é'.repeat(100_000)
  const commands = [
    ['SELECT', '0'],
    ['SET', 'key', 'a\r\nb'],
    ['SET', 'long', long],
    ['SET', 'empty', ''],
  ]
  const text = commands
    .map(
      (words) =>
        `*${words.length}\r\n${words.map((word) => `$${Buffer.byteLength(word)}\r\n${word}\r\n`).join('')}`,
    )
    .join('')
  await write('appendonly.aof.1.incr.aof', text)
  expect(await readAll()).toEqual(commands)
})

it('A history that was written anew is refused, because its beginning is not there', async () => {
  await write('appendonly.aof.2.incr.aof', '')
  await expect(readAll()).rejects.toThrow('does not have the whole history: appendonly.aof.2.incr.aof')
})

it('A file that holds something else than commands is refused', async () => {
  await write('appendonly.aof.1.incr.aof', 'REDIS0011\r\n')
  await expect(readAll()).rejects.toThrow('where * is expected')
})
