import type { StoreName } from '../../settings.ts'
import { openMysqlBed } from './mysql-fixture.ts'
import { openRedisBed } from './redis-fixture.ts'
import { openSqliteBed } from './sqlite-fixture.ts'
import type { StoreBed } from './store-fixture.ts'

export function openStoreBed(store: StoreName, folder: string, logFolder: string): Promise<StoreBed> {
  switch (store) {
    case 'sqlite':
      return openSqliteBed(folder, logFolder)
    case 'mysql':
      return openMysqlBed()
    case 'redis':
      return openRedisBed(folder)
  }
}
