import './check-node.ts'

export {
  type Counterstep,
  type CounterstepOptions,
  createCounterstep,
  type OpenStore,
  type OwnCounterstep,
  type Targets,
} from '@counterstep/embedded'
export {
  CounterstepError,
  type ErrorCode,
  isCounterstepError,
  type SubmitRequest,
  type SubmitView,
  type TransactionView,
} from '@counterstep/protocol'
export {
  type CallSigner,
  callSigner,
  parseSigningKey as signingKeyOf,
  type SigningKey,
} from '@counterstep/signature'
