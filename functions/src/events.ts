/** These types describe what Lambda hands over, as far as it is read here. */

export interface LambdaContext {
  /** Returns the time until this invocation is killed. */
  getRemainingTimeInMillis(): number
}

/** An SQS event source sends its messages in such a batch. */
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
