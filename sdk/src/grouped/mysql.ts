// biome-ignore-all lint/performance/noBarrelFile: package.json names this file as an entry, which lists what it exports.

export { conditionalAdd } from './mysql/mysql-conditional-add.ts'
export { mysqlGroupBarrier } from './mysql/mysql-group-barrier.ts'
