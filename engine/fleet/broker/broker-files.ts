import { z } from 'zod';
import { makePrivateFolder, readPrivate, replacePrivate } from '../../core/base/private-files.ts';
import { subjectsOf } from '../wire/join-line.ts';
import { locateBrokerFiles } from './broker-paths.ts';
import { createServerIdentity, type Identity } from './identity.ts';

const identity = z.object({ key: z.string(), certificate: z.string() });

/** The settings and keys of a fleet's broker; known to the engine alone. */
const setting = z.object({
  /** The address at which it listens, such as `0.0.0.0:4222`. */
  listen: z.string(),
  /** The names and addresses by which machines reach it. */
  hosts: z.array(z.string()),
  authority: identity,
  board: identity,
  /** The board's key for the broker. */
  nkeySeed: z.string(),
  nkey: z.string(),
});

export type BrokerSetting = z.infer<typeof setting>;

/** The machines that may connect to the broker, besides the board. */
export interface BrokerUsers {
  runners: readonly { id: string; nkey: string }[];
  invites: readonly { id: string; password: string }[];
}

const MOST_BYTES = 100_000;

/** Reads the setting of the broker; null if there is none. Throws `storage_unsafe`. */
export function readBrokerSetting(data: string): BrokerSetting | null {
  const text = readPrivate(locateBrokerFiles(data).setting, MOST_BYTES);
  return text === null ? null : setting.parse(JSON.parse(text));
}

/** Writes the setting, so that it survives a power cut: nothing else has the keys. */
export function writeBrokerSetting(data: string, value: BrokerSetting): void {
  const files = locateBrokerFiles(data);
  makePrivateFolder(data, files.folder);
  replacePrivate(files.setting, JSON.stringify(value), { isDurable: true });
}

/** Writes what the broker is started with, besides those who may connect. */
export async function writeBrokerFiles(data: string, fleet: string, value: BrokerSetting): Promise<void> {
  const files = locateBrokerFiles(data);
  makePrivateFolder(data, files.folder);
  const server: Identity = await createServerIdentity(value.authority, value.hosts);
  replacePrivate(files.key, server.key);
  replacePrivate(files.certificate, server.certificate);
  replacePrivate(files.config, formatConfig(data, fleet, value));
}

/** Writes who may connect, and what each may say and hear. */
export function writeBrokerUsers(
  data: string,
  fleet: string,
  { nkey }: Pick<BrokerSetting, 'nkey'>,
  { runners, invites }: BrokerUsers,
): void {
  const subjects = subjectsOf(fleet);
  const allow = (publish: readonly string[], subscribe: readonly string[]): string =>
    `permissions: { publish: { allow: ${JSON.stringify(publish)} }, subscribe: { allow: ${JSON.stringify(subscribe)} } }`;
  const users = [
    `{ nkey: ${nkey}, ${allow([subjects.toAll, subjects.joinedAll], [subjects.all])} }`,
    ...runners.map(
      (each) =>
        `{ nkey: ${each.nkey}, ${allow([subjects.ofRunner(each.id)], [subjects.toRunner(each.id)])} }`,
    ),
    ...invites.map(
      ({ id, password }) =>
        `{ user: ${JSON.stringify(id)}, password: ${JSON.stringify(password)}, ${allow([subjects.join(id)], [`${subjects.joined(id)}.>`])} }`,
    ),
  ];
  replacePrivate(locateBrokerFiles(data).users, `users = [\n  ${users.join('\n  ')}\n]\n`);
}

/** Settings of nats-server. Nothing is stored: it only passes messages on. */
const formatConfig = (data: string, fleet: string, { listen }: BrokerSetting): string => {
  const { certificate, key, output } = locateBrokerFiles(data);
  return [
    `# Written by svc fleet init; svc reads the rest from broker.json.`,
    `server_name: ${JSON.stringify(`svc-${fleet.slice(0, 8)}`)}`,
    `listen: ${JSON.stringify(listen)}`,
    `log_file: ${JSON.stringify(output)}`,
    'logfile_size_limit: 1MB',
    `tls { cert_file: ${JSON.stringify(certificate)}, key_file: ${JSON.stringify(key)}, timeout: 5 }`,
    'ping_interval: "10s"',
    'ping_max: 2',
    'max_payload: 1MB',
    'write_deadline: "10s"',
    'authorization { timeout: 5, include "users.conf" }',
    '',
  ].join('\n');
};
