// biome-ignore-all lint/performance/noBarrelFile: package.json names this file as an entry, which lists what it exports.

export { conditionalAdd } from './postgres/postgres-conditional-add.ts'
export { postgresGroupBarrier } from './postgres/postgres-group-barrier.ts'
