import { createCipheriv, createDecipheriv, randomBytes } from 'node:crypto';
import { SvcError } from '../core/base/errors.ts';

const ALGORITHM = 'aes-256-gcm';
const IV_BYTES = 12;
const TAG_BYTES = 16;

/** Encrypts values that have to be read again, such as the secrets of webhooks. */
export interface SecretSealer {
  /** @param place its location, such as a table, a column and an id: it can only be decrypted there */
  seal(text: string, place: string): string;
  /** Throws `storage_failed` for a value that was not encrypted with this key at this place. */
  unseal(sealed: string, place: string): string;
}

/** AES-256-GCM under a key of 32 bytes, with a new nonce each time. */
export function createSealer(key: Buffer): SecretSealer {
  return {
    seal(text, place) {
      const iv = randomBytes(IV_BYTES);
      const cipher = createCipheriv(ALGORITHM, key, iv).setAAD(Buffer.from(place));
      const sealed = Buffer.concat([iv, cipher.update(text, 'utf8'), cipher.final(), cipher.getAuthTag()]);
      return `v1.${sealed.toString('base64url')}`;
    },
    unseal(sealed, place) {
      try {
        const bytes = Buffer.from(sealed.replace(/^v1\./, ''), 'base64url');
        const decipher = createDecipheriv(ALGORITHM, key, bytes.subarray(0, IV_BYTES), {
          authTagLength: TAG_BYTES,
        });
        decipher.setAAD(Buffer.from(place)).setAuthTag(bytes.subarray(-TAG_BYTES));
        const text = decipher.update(bytes.subarray(IV_BYTES, -TAG_BYTES));
        return Buffer.concat([text, decipher.final()]).toString('utf8');
      } catch (error) {
        throw new SvcError('storage_failed', `${place} cannot be decrypted`, { cause: error });
      }
    },
  };
}
