import { createPrivateKey, createPublicKey, hkdfSync, type KeyObject } from 'node:crypto';

// Keys derived from the root secret of a linked server. The server has it, and workspaces that its operator gives it to.

/** Minimum length of a secret, bytes. */
export const SHORTEST_ROOT_SECRET = 32;

/** Derives a key of 32 bytes for one purpose (HKDF with SHA-256, RFC 5869). */
export const deriveRootKey = (secret: string, purpose: string): Buffer =>
  Buffer.from(hkdfSync('sha256', secret, '', `svc ${purpose}`, 32));

/** The prefix of an Ed25519 key's 32 bytes in PKCS #8 (RFC 8410, section 7). */
const PKCS8_HEAD = Buffer.from('302e020100300506032b657004220420', 'hex');

/** Returns the Ed25519 key that signs leases, and its public key: the `x` of its JWK, base64url. */
export function deriveLeaseKey(secret: string): { privateKey: KeyObject; publicKey: string } {
  const der = Buffer.concat([PKCS8_HEAD, deriveRootKey(secret, 'lease')]);
  const privateKey = createPrivateKey({ key: der, format: 'der', type: 'pkcs8' });
  const { x = '' } = createPublicKey(privateKey).export({ format: 'jwk' });
  return { privateKey, publicKey: x };
}
