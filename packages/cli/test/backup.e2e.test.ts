import { exec } from 'node:child_process'
import { copyFileSync, mkdirSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { it, onTestFinished } from 'vitest'
import { expectRestore } from './backup-run.ts'
import { ServeProcess } from './serve-process.ts'

const STORES_PAGE = readFileSync(join(import.meta.dirname, '../../../docs/stores.md'), 'utf8')

/** Returns the page's command with the paths of the test. */
function backUpCommand(file: string, backup: string): string {
  const command = /^node (-e ".*VACUUM INTO.*")$/m.exec(STORES_PAGE)?.[1]
  if (command === undefined) throw new Error('the page has no command for SQLite')
  const own = command.replace('.data/counterstep.db', file).replace('backup/counterstep.db', backup)
  return `'${process.execPath}' ${own}`
}

it('A backup of the embedded store by the command of docs/stores.md while it serves is restored, and goes on', {
  timeout: 60_000,
}, async () => {
  const folder = mkdtempSync(join(tmpdir(), 'counterstep-backup-'))
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
  const backup = join(folder, 'backup.db')
  let data = join(folder, 'data')
  await expectRestore({
    serve: () =>
      new ServeProcess(['serve', '--ready-json', '--port', '0', '--lease-ms', '3000', '--data', data]),
    async backUp() {
      await promisify(exec)(backUpCommand(join(data, 'counterstep.db'), backup))
    },
    async restore() {
      data = join(folder, 'restored')
      mkdirSync(data, { mode: 0o700 })
      copyFileSync(backup, join(data, 'counterstep.db'))
    },
  })
})
