import { randomBytes, webcrypto } from 'node:crypto';
import 'reflect-metadata';
import * as x509 from '@peculiar/x509';

/** A key and its certificate, PEM. */
export interface Identity {
  key: string;
  certificate: string;
}

const ALGORITHM = { name: 'ECDSA', namedCurve: 'P-256', hash: 'SHA-256' } as const;
/** No clock is trusted with more than this: a certificate is known by itself, and withdrawn by its record. */
const VALID = { notBefore: new Date('2020-01-01T00:00:00Z'), notAfter: new Date('2120-01-01T00:00:00Z') };

x509.cryptoProvider.set(webcrypto as never);

/** A positive number of 16 bytes, as RFC 5280 (4.1.2.2) requires. */
const makeSerialNumber = (): string => `4${randomBytes(16).toString('hex').slice(1)}`;

const createKeys = () => webcrypto.subtle.generateKey(ALGORITHM, true, ['sign', 'verify']);

async function exportKey(key: webcrypto.CryptoKey): Promise<string> {
  const bytes = Buffer.from(await webcrypto.subtle.exportKey('pkcs8', key));
  const lines = bytes.toString('base64').match(/.{1,64}/g) ?? [];
  return `-----BEGIN PRIVATE KEY-----\n${lines.join('\n')}\n-----END PRIVATE KEY-----\n`;
}

/** Creates an identity that is known by its certificate. */
export async function createIdentity(name: string): Promise<Identity> {
  const keys = await createKeys();
  const certificate = await x509.X509CertificateGenerator.createSelfSigned({
    serialNumber: makeSerialNumber(),
    name: [{ CN: [name] }],
    ...VALID,
    signingAlgorithm: ALGORITHM,
    keys: keys as never,
    extensions: [
      new x509.BasicConstraintsExtension(true, 0, true),
      new x509.KeyUsagesExtension(x509.KeyUsageFlags.digitalSignature | x509.KeyUsageFlags.keyCertSign, true),
    ],
  });
  return { key: await exportKey(keys.privateKey), certificate: `${certificate.toString('pem')}\n` };
}

/** Creates a server's identity, signed by an authority, for these host names and addresses. */
export async function createServerIdentity(authority: Identity, hosts: readonly string[]): Promise<Identity> {
  const [keys, issuerKey] = await Promise.all([createKeys(), importKey(authority.key)]);
  const issuer = new x509.X509Certificate(authority.certificate);
  const certificate = await x509.X509CertificateGenerator.create({
    serialNumber: makeSerialNumber(),
    subject: [{ CN: [hosts[0] ?? 'svc'] }],
    issuer: issuer.subjectName,
    ...VALID,
    signingAlgorithm: ALGORITHM,
    publicKey: keys.publicKey as never,
    signingKey: issuerKey as never,
    extensions: [
      new x509.BasicConstraintsExtension(false, undefined, true),
      new x509.ExtendedKeyUsageExtension([x509.ExtendedKeyUsage.serverAuth]),
      new x509.SubjectAlternativeNameExtension(
        hosts.map((host) => ({ type: isAddress(host) ? ('ip' as const) : ('dns' as const), value: host })),
      ),
    ],
  });
  return { key: await exportKey(keys.privateKey), certificate: `${certificate.toString('pem')}\n` };
}

const isAddress = (host: string): boolean => /^[\d.]+$|:/.test(host);

const importKey = (pem: string) =>
  webcrypto.subtle.importKey(
    'pkcs8',
    Buffer.from(pem.replace(/-----[^-]+-----/g, ''), 'base64'),
    ALGORITHM,
    false,
    ['sign'],
  );
