export { counterstep } from './counterstep.ts'
export type { Counterstep } from './in-process.ts'
export type { CounterstepOptions, Face, FaceKeys, OpenStore, Targets } from './options.ts'
