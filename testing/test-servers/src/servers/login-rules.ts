/**
 * The rules by which a PostgreSQL, or a pooler before it, lets a client in: the superuser without a password, and each
 * user that a test makes with its own, so that a wrong password is refused. Both programs read this form.
 */
export const LOGIN_RULES = [
  'host all postgres 127.0.0.1/32 trust',
  'host all all 127.0.0.1/32 scram-sha-256',
  '',
].join('\n')
