import type { StoreName } from '../../settings.ts'
import { openMysqlBed } from './mysql-bed.ts'
import { openRedisBed } from './redis-bed.ts'
import { openSqliteBed } from './sqlite-bed.ts'
import type { StoreBed } from './store-bed.ts'

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
