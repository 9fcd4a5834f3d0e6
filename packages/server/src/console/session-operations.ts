import { SCOPES } from '@counterstep/access'
import type { Operation } from '../openapi/operation.ts'

const sessionExample = {
  via: 'console',
  key: { id: 'k7m2p9q4r8s3', name: 'ops' },
  person: 'kim',
  scopes: ['read', 'operate'],
  until: 1_795_800_000_000,
} as const

const description =
  'A session stands for a key in the requests of the console. It is a cookie that no script can read, and counts only beside the header counterstep-console with the secret of the answer. It ends after 12 hours, after an hour without use, or with its key.'

export const getSessionOperation: Operation = {
  method: 'get',
  path: '/v1/session',
  id: 'getSession',
  tag: 'operations',
  access: [...SCOPES],
  summary: 'Tell who the caller is, and what it may do',
  answers: {
    200: { description: 'The key or the session.', schema: 'SessionView', example: sessionExample },
  },
  problems: [],
}

export const openSessionOperation: Operation = {
  method: 'post',
  path: '/v1/session',
  id: 'openSession',
  tag: 'operations',
  access: 'open',
  summary: 'Log in to the console by a key',
  description,
  body: {
    schema: 'LoginRequest',
    required: true,
    examples: { login: { key: 'cs_…', person: 'kim' } },
  },
  answers: {
    200: {
      description: 'The session is open.',
      schema: 'LoginView',
      example: { ...sessionExample, secret: 'pY3c…' },
      headers: { 'Set-Cookie': 'The other half of the session.' },
    },
  },
  problems: [
    'SAGA_MALFORMED_JSON',
    'SAGA_UNSUPPORTED_MEDIA_TYPE',
    'SAGA_BODY_TOO_LARGE',
    'SAGA_INVALID',
    'SAGA_UNKNOWN_FIELD',
    'SAGA_UNAUTHENTICATED',
    'SAGA_HOST_REFUSED',
    'SAGA_RATE_LIMITED',
    'SAGA_CONTENDED',
    'SAGA_STORE_UNAVAILABLE',
    'SAGA_STORE_CLOSED',
  ],
}

export const endSessionOperation: Operation = {
  method: 'delete',
  path: '/v1/session',
  id: 'endSession',
  tag: 'operations',
  access: [...SCOPES],
  summary: 'Log out, on every node',
  answers: {
    200: {
      description: 'The session has ended.',
      schema: 'SessionView',
      example: sessionExample,
      headers: { 'Set-Cookie': 'It removes the session from the browser.' },
    },
  },
  problems: ['SAGA_CONTENDED', 'SAGA_STORE_UNAVAILABLE', 'SAGA_STORE_CLOSED'],
}
