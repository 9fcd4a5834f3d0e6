import './check-node.ts'

export {
  type Counterstep,
  counterstep,
  type Face,
  type FaceKeys,
  type OpenStore,
  type PluginOptions,
  type Targets,
} from '@counterstep/fastify-plugin'
