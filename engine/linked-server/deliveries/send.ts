import { fetch as fetchOverAgent } from 'undici';
import { attemptDelivery, type SendOutcome, type SigningSecrets } from '../../notify/sending/index.ts';
import type { AddressGuard } from './address-guard.ts';

/** One attempt, described for people. */
export interface SendAttempt extends SendOutcome {
  /** Duration, ms. */
  ms: number;
}

const NONSENSE = 'its answer is not valid HTTP';

/** Describes a failure of `fetch` in our own words; never the answer's body. */
const WORDS: Readonly<Record<string, string>> = {
  ADDRESS_REFUSED: 'its name resolves to an address that this server does not send to',
  ECONNREFUSED: 'nothing listens there',
  ECONNRESET: 'it closed the connection',
  EHOSTUNREACH: 'it cannot be reached from here',
  ENETUNREACH: 'it cannot be reached from here',
  ENOTFOUND: 'the name is not known',
  EAI_AGAIN: 'the name could not be looked up',
  ETIMEDOUT: 'it did not accept the connection in time',
  UND_ERR_CONNECT_TIMEOUT: 'it did not accept the connection in time',
  UND_ERR_SOCKET: 'it closed the connection',
  UND_ERR_HEADERS_OVERFLOW: 'its answer has too many headers',
  UND_ERR_RES_CONTENT_LENGTH_MISMATCH: NONSENSE,
  UND_ERR_RES_EXCEEDED_MAX_SIZE: NONSENSE,
  ERR_ASSERTION: NONSENSE,
  CERT_HAS_EXPIRED: 'its certificate has expired',
  DEPTH_ZERO_SELF_SIGNED_CERT: 'its certificate is not trusted',
  SELF_SIGNED_CERT_IN_CHAIN: 'its certificate is not trusted',
  UNABLE_TO_VERIFY_LEAF_SIGNATURE: 'its certificate is not trusted',
  ERR_TLS_CERT_ALTNAME_INVALID: 'its certificate is for another name',
};

/** Posts a signed event over connections that the guard checks. Null if `signal` ended it. */
export async function sendEvent(
  wanted: { url: string; body: string; messageId: string; secrets: SigningSecrets },
  { guard, now, signal }: { guard: AddressGuard; now: number; signal: AbortSignal },
): Promise<SendAttempt | null> {
  const begin = performance.now();
  // The Agent of this undici does not work in Node's own fetch; its types differ, their behaviour is the same.
  const fetch = ((url: URL, init: object) =>
    fetchOverAgent(url, { ...init, dispatcher: guard.agent })) as unknown as typeof globalThis.fetch;
  const outcome = await attemptDelivery(wanted, { fetch, now, signal });
  if (outcome === null) return null;
  const { error } = outcome;
  return {
    ...outcome,
    error: error === null ? null : describeError(error),
    ms: Math.round(performance.now() - begin),
  };
}

/** A code without a text, such as one of TLS, follows the description. */
const describeError = (error: string): string =>
  WORDS[error] ?? (/^[A-Z][A-Z0-9]*_[A-Z0-9_]+$/.test(error) ? `the connection failed (${error})` : error);
