/** What Lambda hands over, as far as it is read here. */

export interface LambdaContext {
  /** Until this invocation is killed. */
  getRemainingTimeInMillis(): number
}

/** A batch of an SQS event source. */
export interface QueueEvent {
  readonly Records: readonly QueueRecord[]
}

export interface QueueRecord {
  readonly messageId: string
  readonly body: string
}

/** The messages that are to come again; the others are done with. */
export interface QueueAnswer {
  readonly batchItemFailures: readonly { readonly itemIdentifier: string }[]
}
