import * as z from 'zod';

/** The `policy` section: who may change anything. */
export const policySchema = z.strictObject({
  mode: z.enum(['', 'solo', 'allowlist']).default('').meta({
    consent: true,
    notation: 'string',
    description: 'solo lets everyone on this machine act; allowlist only the actors listed.',
    unset: 'solo',
  }),
  actors: z
    .array(z.string().min(1))
    .default([])
    .meta({
      consent: true,
      notation: '[]string',
      nil: true,
      description:
        'Actors who may act when mode is allowlist: SVC_ACTOR, or the name of the OS user; chat:<user id> and codehost:<login> for people outside. In any mode, a listed code host user is a trusted author, and once anyone is listed, chat users who are not listed are untrusted authors.',
      unset: 'no one, and no chat user is an untrusted author',
      example: ['alice', 'chat:U2147483697'],
    }),
});

/** The `telemetry` section. */
export const telemetrySchema = z.strictObject({
  work: z.enum(['', 'off', 'on', 'auto']).default('').meta({
    consent: true,
    notation: 'string',
    description:
      'Sends usage figures to the linked server once a day: auto and on send them while the workspace is linked and a person has seen them (svc telemetry show), off collects nothing. DO_NOT_TRACK=1 means off.',
    unset: 'auto',
  }),
});
