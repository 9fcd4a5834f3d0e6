import { chown, cp, readdir, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { keptFolder } from '../processes/kept-process.ts'
import { runToEnd } from '../processes/run-to-end.ts'
import type { DataSeed } from './data-seed.ts'
import type { PostgresProgram } from './postgres-program.ts'
import { findUnprivilegedUser, type ServerUser } from './server-user.ts'

/** Makes an empty data folder. Its superuser has no password, because its server listens on loopback and is for tests alone. */
export function postgresSeed({ initdb, version }: PostgresProgram): DataSeed {
  return {
    name: `postgres-${version}`,
    async fill(folder) {
      // The folder must be made as a user that may not enter the cache, which belongs to root.
      const user = findUnprivilegedUser()
      const made = await keptFolder('postgres-seed', user)
      try {
        const place = ['-D', join(made, 'data'), '--username=postgres', '--auth=trust']
        const texts = ['--encoding=UTF8', '--locale=C']
        // A copy of the folder is not synced either.
        await runToEnd(initdb, [...place, ...texts, '--no-sync'], join(made, 'log'), user)
        await cp(join(made, 'data'), join(folder, 'data'), { recursive: true })
      } finally {
        await rm(made, { recursive: true, force: true })
      }
    },
  }
}

/** Gives the folder and all that is in it to the user. */
export async function giveTo({ uid, gid }: ServerUser, folder: string): Promise<void> {
  const names = await readdir(folder, { recursive: true })
  await Promise.all(['', ...names].map((name) => chown(join(folder, name), uid, gid)))
}
