import { chown, cp, readdir, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { keptFolder } from '../processes/kept-process.ts'
import { runToEnd } from '../processes/run-to-end.ts'
import type { DataSeed } from './data-seed.ts'
import type { PostgresProgram } from './postgres.ts'
import { type ServerUser, unprivilegedUser } from './server-user.ts'

/** An empty data folder, in which everybody who reaches the server is let in as anybody. */
export function postgresSeed({ initdb, version }: PostgresProgram): DataSeed {
  return {
    name: `postgres-${version}`,
    async fill(folder) {
      // The user who has to make it may not enter the cache, which is root's.
      const user = unprivilegedUser()
      const made = await keptFolder('postgres-seed', user)
      try {
        const place = ['-D', join(made, 'data'), '--username=postgres', '--auth=trust']
        const texts = ['--encoding=UTF8', '--locale=C']
        // What is copied is not synced anyway.
        await runToEnd(initdb, [...place, ...texts, '--no-sync'], join(made, 'log'), user)
        await cp(join(made, 'data'), join(folder, 'data'), { recursive: true })
      } finally {
        await rm(made, { recursive: true, force: true })
      }
    },
  }
}

/** With all that is in it. */
export async function giveTo({ uid, gid }: ServerUser, folder: string): Promise<void> {
  const names = await readdir(folder, { recursive: true })
  await Promise.all(['', ...names].map((name) => chown(join(folder, name), uid, gid)))
}
