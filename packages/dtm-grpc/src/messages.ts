/** These are the messages of the descriptor as they are decoded. A field that did not come has its zero value. */
export interface DtmRequestMessage {
  readonly Gid: string
  readonly TransType: string
  /** It is null if it did not come. */
  readonly TransOptions: DtmTransOptionsMessage | null
  readonly CustomedData: string
  readonly BinPayloads: readonly Buffer[]
  readonly QueryPrepared: string
  /** The steps as JSON. */
  readonly Steps: string
  readonly ReqExtra: TextMap
  readonly RollbackReason: string
}

/** The last of entries with one key counts. */
export type TextMap = readonly { readonly key: string; readonly value: string }[]

/** Whole numbers are decimal texts, since they may have 64 bits. */
export interface DtmTransOptionsMessage {
  readonly WaitResult: boolean
  readonly TimeoutToFail: string
  readonly RetryInterval: string
  readonly BranchHeaders: TextMap
  readonly RequestTimeout: string
  readonly RetryLimit: string
}

export interface DtmBranchMessage {
  readonly Gid: string
  readonly TransType: string
  readonly BranchID: string
  readonly Op: string
  readonly Data: TextMap
  readonly BusiPayload: Buffer
}

export interface DtmTopicMessage {
  readonly Topic: string
  readonly URL: string
  readonly Remark: string
}

export interface HealthCheckMessage {
  readonly service: string
}
