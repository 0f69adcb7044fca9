import { createHmac, timingSafeEqual } from 'node:crypto';
import { z } from 'zod';
import { SvcError } from '../../core/base/errors.ts';

/** The content of the line by which a machine joins a fleet. */
const invitation = z.object({
  fleet: z.string().regex(/^[0-9a-f-]{8,64}$/),
  /** Addresses of the broker, such as `tls://chair.lan:4222`. */
  servers: z.array(z.string().min(1).max(300)).min(1).max(20),
  /** The certificate of the authority that has signed the broker's, PEM. */
  authority: z.string().min(1).max(10_000),
  /** The certificate of the board, PEM. */
  board: z.string().min(1).max(10_000),
  id: z.string().regex(/^[0-9a-f]{16}$/),
  /** Opens the broker for the one request. */
  password: z.string().min(16).max(200),
  /** Proves both ends to each other; the broker never sees it. */
  secret: z.string().min(16).max(200),
});

export type Invitation = z.infer<typeof invitation>;

const PREFIX = 'svcj1.';

export const formatJoinLine = (value: Invitation): string =>
  `${PREFIX}${Buffer.from(JSON.stringify(value)).toString('base64url')}`;

/** Parses the line of an invitation, or the whole command that `svc runner invite` prints. Throws `join_invalid`. */
export function parseJoinLine(line: string): Invitation {
  const word = line.trim().split(/\s/).at(-1) ?? '';
  try {
    if (word.startsWith(PREFIX))
      return invitation.parse(
        JSON.parse(Buffer.from(word.slice(PREFIX.length), 'base64url').toString('utf8')),
      );
  } catch {
    // Cut, or of another version.
  }
  throw joinError('this is not the whole line that svc runner invite has printed');
}

export const joinError = (why: string): SvcError =>
  new SvcError('join_invalid', why, {
    hint: 'svc runner invite prints a new one, valid once and for an hour',
  });

/** The request of a machine to join. */
export const joinRequest = z.object({
  /** The name of its host. */
  host: z
    .string()
    .min(1)
    .max(255)
    .regex(/^[^\p{Cc}]+$/u),
  name: z.string().max(63).nullable(),
  protocol: z.int(),
  version: z.string().max(100),
  certificate: z.string().min(1).max(10_000),
  /** Its public key for the broker. */
  nkey: z.string().regex(/^U[A-Z2-7]{55}$/),
});

export type JoinRequest = z.infer<typeof joinRequest>;

/** The board's answer: the machine's id and name, or why it may not join. */
export const joinAnswer = z.union([
  z.object({ runner: z.string().regex(/^r-\d{1,15}$/), name: z.string().max(63) }),
  z.object({ refused: z.string().max(1000) }),
]);

const proof = z.object({ body: z.string().max(50_000), mac: z.string().regex(/^[0-9a-f]{64}$/) });

const computeMac = (secret: string, use: string, body: string): Buffer =>
  createHmac('sha256', secret).update(`${use}\n${body}`).digest();

/** Writes a message that proves that its writer knows the secret. @param use keeps requests from being answers */
export function sealMessage(secret: string, use: 'request' | 'answer', value: unknown): Buffer {
  const body = JSON.stringify(value);
  return Buffer.from(JSON.stringify({ body, mac: computeMac(secret, use, body).toString('hex') }));
}

/** Reads such a message. Throws `join_invalid`. */
export function openMessage<T>(
  secret: string,
  use: 'request' | 'answer',
  message: Uint8Array,
  schema: z.ZodType<T>,
): T {
  try {
    const { body, mac } = proof.parse(JSON.parse(Buffer.from(message).toString('utf8')));
    if (timingSafeEqual(Buffer.from(mac, 'hex'), computeMac(secret, use, body)))
      return schema.parse(JSON.parse(body));
  } catch {
    // Of another form.
  }
  throw joinError('a message about joining was not of the one who was invited');
}

/** The subjects of a fleet. A runner may publish below its own name, and read what is sent to it. */
export const subjectsOf = (fleet: string) => ({
  all: `svc.${fleet}.>`,
  /** A runner opens a connection: the message is its number. */
  open: (runner: string) => `svc.${fleet}.${runner}.open`,
  /** From a runner to the board. */
  up: (runner: string, number: string) => `svc.${fleet}.${runner}.up.${number}`,
  ofRunner: (runner: string) => `svc.${fleet}.${runner}.>`,
  /** From the board to a runner. */
  down: (runner: string, number: string) => `svc.${fleet}.to.${runner}.${number}`,
  /** The board has started again: whatever was open is gone. */
  reset: (runner: string) => `svc.${fleet}.to.${runner}.reset`,
  toRunner: (runner: string) => `svc.${fleet}.to.${runner}.>`,
  toAll: `svc.${fleet}.to.>`,
  join: (invite: string) => `svc.${fleet}.join.${invite}`,
  joined: (invite: string) => `svc.${fleet}.joined.${invite}`,
  joinedAll: `svc.${fleet}.joined.>`,
  inbox: `svc.${fleet}.inbox`,
});
