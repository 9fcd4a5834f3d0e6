/** These types describe what Lambda hands over, as far as it is read here. */

export interface LambdaContext {
  /** Returns the time until this invocation is killed. */
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

/** Lists the messages that have to come again. The others are finished. */
export interface QueueAnswer {
  readonly batchItemFailures: readonly { readonly itemIdentifier: string }[]
}
