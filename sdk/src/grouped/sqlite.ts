// biome-ignore-all lint/performance/noBarrelFile: package.json names this file as an entry, which lists what it exports.

export { conditionalAdd } from './sqlite/sqlite-conditional-add.ts'
export { sqliteGroupBarrier } from './sqlite/sqlite-group-barrier.ts'
