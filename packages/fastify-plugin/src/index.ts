export type { Counterstep, OpenStore, Targets } from '@counterstep/embedded'
export { counterstep } from './counterstep.ts'
export type { Face, FaceKeys, PluginOptions } from './options.ts'
