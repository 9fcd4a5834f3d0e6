// biome-ignore-all lint/performance/noBarrelFile: An entry of package.json.

export { conditionalAdd } from './mysql/mysql-conditional-add.ts'
export { mysqlGroupBarrier } from './mysql/mysql-group-barrier.ts'
