import { createHmac, randomBytes, timingSafeEqual } from 'node:crypto';

// One-time codes of RFC 6238 with the parameters that every authenticator supports: SHA-1, six digits, thirty seconds.

const STEP_MS = 30_000;
const DIGITS = 6;
/** Codes of the previous and next step are valid too, since clocks differ (section 5.2). */
const LEEWAY = 1;
const SECRET_BYTES = 20;

export const makeCodeSecret = (): Buffer => randomBytes(SECRET_BYTES);

/** Returns the code of one step (RFC 4226, section 5.3). */
export function makeCode(secret: Buffer, step: number): string {
  const counter = Buffer.alloc(8);
  counter.writeBigUInt64BE(BigInt(step));
  const mac = createHmac('sha1', secret).update(counter).digest();
  const at = (mac.at(-1) ?? 0) & 0xf;
  return String((mac.readUInt32BE(at) & 0x7fffffff) % 10 ** DIGITS).padStart(DIGITS, '0');
}

/** Returns the step of a typed code, later than the last used one; null for a wrong or used code. */
export function findCodeStep(secret: Buffer, typed: string, lastStep: number, now: number): number | null {
  if (!/^\d{6}$/.test(typed)) return null;
  const current = Math.floor(now / STEP_MS);
  let found: number | null = null;
  for (let step = current - LEEWAY; step <= current + LEEWAY; step += 1) {
    const isSame = timingSafeEqual(Buffer.from(makeCode(secret, step)), Buffer.from(typed));
    if (isSame && step > lastStep) found ??= step;
  }
  return found;
}

const ALPHABET = 'ABCDEFGHIJKLMNOPQRSTUVWXYZ234567';

/** Encodes bytes as Base32 without padding (RFC 4648, section 6). */
export function encodeBase32(bytes: Buffer): string {
  let bits = '';
  for (const byte of bytes) bits += byte.toString(2).padStart(8, '0');
  const groups = bits.match(/.{1,5}/g) ?? [];
  return groups.map((group) => ALPHABET[Number.parseInt(group.padEnd(5, '0'), 2)]).join('');
}

/** Returns the address that authenticators read from a QR code. */
export const makeCodeAddress = (secret: Buffer, workspace: string): string =>
  `otpauth://totp/${encodeURIComponent(`svc:${workspace}`)}?secret=${encodeBase32(secret)}&issuer=svc`;
