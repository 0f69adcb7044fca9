import type { KeyObject } from 'node:crypto';
import { z } from 'zod';
import { SvcError } from '../base/errors.ts';
import { type AccountCapability, type AccountEntitlements, PLANS } from './capabilities.ts';

// A lease: a server's signed statement about the plan of a workspace, valid for three days. A JWS in compact form
// (RFC 7515), EdDSA only. jose is loaded on demand: most workspaces have no lease.

const ALGORITHM = 'EdDSA';
const TYPE = 'svc-lease+jwt';
const AUDIENCE = 'svc-workspace';

/** Validity of a lease, ms. */
export const LEASE_MS = 72 * 3600_000;

const quota = z.int().min(0).nullable();
/** Maximum of a date, s. */
const time = z.int().min(0).max(8.64e12);

const claims = z.object({
  iss: z.string(),
  /** The workspace's id at the server. */
  sub: z.string(),
  jti: z.string(),
  /** Seconds since 1970, by the server's clock. */
  iat: time,
  exp: time,
  /** The nonce of the request that it answers. */
  nonce: z.string(),
  account: z.string(),
  plan: z.enum(PLANS),
  quotas: z.object({ projects: quota, workspaces: quota, people: quota }),
  /** A newer server may send names that this version does not know. */
  capabilities: z.array(z.string()),
});

export type LeaseClaims = z.output<typeof claims>;

/** Returns the account data in a lease. */
export const readEntitlements = ({ plan, quotas, capabilities }: LeaseClaims): AccountEntitlements => ({
  plan,
  quotas,
  capabilities: capabilities as AccountCapability[],
});

/** Signs a lease. */
export async function signLease(lease: LeaseClaims, privateKey: KeyObject): Promise<string> {
  const { SignJWT } = await import('jose');
  return new SignJWT({ ...lease, aud: AUDIENCE })
    .setProtectedHeader({ alg: ALGORITHM, typ: TYPE })
    .sign(privateKey);
}

const createLeaseError = (why: string, cause?: unknown): SvcError =>
  new SvcError('lease_invalid', `lease rejected: ${why}`, {
    ...(cause === undefined ? {} : { cause }),
    hint: 'if the server has a new key, link the workspace again',
  });

/**
 * Verifies everything but the time, which the caller checks with its own clock.
 * @param publicKey the `x` of the pinned JWK
 * @throws `lease_invalid`
 */
export async function verifyLease(
  token: string,
  expected: { publicKey: string; issuer: string; workspace: string },
): Promise<LeaseClaims> {
  const { compactVerify, importJWK } = await import('jose');
  let payload: unknown;
  try {
    const key = await importJWK({ kty: 'OKP', crv: 'Ed25519', x: expected.publicKey }, ALGORITHM);
    const verified = await compactVerify(token, key, { algorithms: [ALGORITHM] });
    if (verified.protectedHeader.typ !== TYPE) throw createLeaseError('it is a different kind of token');
    payload = JSON.parse(new TextDecoder().decode(verified.payload));
  } catch (error) {
    if (error instanceof SvcError) throw error;
    throw createLeaseError('its signature is not from the server', error);
  }
  const read = claims.extend({ aud: z.literal(AUDIENCE) }).safeParse(payload);
  if (!read.success) throw createLeaseError('its content is invalid');
  const { aud: _, ...lease } = read.data;
  if (lease.iss !== expected.issuer) throw createLeaseError('it belongs to another server');
  if (lease.sub !== expected.workspace) throw createLeaseError('it belongs to another workspace');
  if (lease.exp <= lease.iat || lease.exp - lease.iat > LEASE_MS / 1000)
    throw createLeaseError('its end does not match its start');
  return lease;
}
