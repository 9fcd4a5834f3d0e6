// biome-ignore-all lint/performance/noBarrelFile: An entry of package.json.

export { conditionalAdd } from './sqlite/sqlite-conditional-add.ts'
export { sqliteGroupBarrier } from './sqlite/sqlite-group-barrier.ts'
