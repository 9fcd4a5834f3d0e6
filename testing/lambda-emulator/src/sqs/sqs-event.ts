import type { Message, MessageAttributeValue } from '@aws-sdk/client-sqs'
import { REGION } from '../function-spec.ts'

export interface SqsEvent {
  readonly Records: readonly SqsRecord[]
}

export interface SqsRecord {
  readonly messageId: string
  readonly receiptHandle: string
  readonly body: string
  /** These are the system attributes, such as ApproximateReceiveCount and SentTimestamp. */
  readonly attributes: Readonly<Record<string, string>>
  readonly messageAttributes: Readonly<Record<string, SqsRecordAttribute>>
  readonly md5OfBody: string
  readonly eventSource: 'aws:sqs'
  readonly eventSourceARN: string
  readonly awsRegion: string
}

export interface SqsRecordAttribute {
  readonly stringValue?: string
  readonly binaryValue?: string
  readonly stringListValues: readonly []
  readonly binaryListValues: readonly []
  readonly dataType: string
}

export function toSqsEvent(messages: readonly Message[], queueArn: string): SqsEvent {
  return { Records: messages.map((message) => toRecord(message, queueArn)) }
}

function toRecord(message: Message, queueArn: string): SqsRecord {
  const { MessageId = '', ReceiptHandle = '', Body = '', MD5OfBody = '' } = message
  return {
    messageId: MessageId,
    receiptHandle: ReceiptHandle,
    body: Body,
    attributes: { ...message.Attributes },
    messageAttributes: Object.fromEntries(
      Object.entries(message.MessageAttributes ?? {}).map(([name, value]) => [name, toAttribute(value)]),
    ),
    md5OfBody: MD5OfBody,
    eventSource: 'aws:sqs',
    eventSourceARN: queueArn,
    awsRegion: REGION,
  }
}

function toAttribute({ StringValue, BinaryValue, DataType = '' }: MessageAttributeValue): SqsRecordAttribute {
  return {
    ...(StringValue === undefined ? {} : { stringValue: StringValue }),
    ...(BinaryValue === undefined ? {} : { binaryValue: Buffer.from(BinaryValue).toString('base64') }),
    stringListValues: [],
    binaryListValues: [],
    dataType: DataType,
  }
}
