import type { StoreName } from '../../settings.ts'
import { openMysqlFixture } from './mysql-fixture.ts'
import { openPostgresFixture } from './postgres-fixture.ts'
import { openRedisFixture } from './redis-fixture.ts'
import { openSqliteFixture } from './sqlite-fixture.ts'
import type { StoreFixture } from './store-fixture.ts'

export function openStoreFixture(store: StoreName, folder: string, logFolder: string): Promise<StoreFixture> {
  switch (store) {
    case 'sqlite':
      return openSqliteFixture(folder, logFolder)
    case 'mysql':
      return openMysqlFixture()
    case 'postgres':
      return openPostgresFixture()
    case 'redis':
      return openRedisFixture(folder)
  }
}
