// biome-ignore-all lint/performance/noBarrelFile: An entry of package.json.

export { conditionalAdd } from './postgres/postgres-conditional-add.ts'
export { postgresGroupBarrier } from './postgres/postgres-group-barrier.ts'
