import { listKnownConfigFiles } from '../core/access/index.ts';
import { formatAddress, parseAddress } from '../core/base/values/address.ts';
import { findListenProblem } from '../core/http/listen.ts';
import { configSchema } from './schema.ts';
import { readSource } from './source.ts';

/** The keys whose default address every workspace would share. */
export const SHARED_ADDRESSES = ['ui.addr', 'gateway.addr'] as const;
export type SharedAddress = (typeof SHARED_ADDRESSES)[number];

export interface FreeAddresses {
  /** The settings of a new workspace: none if the defaults are free. */
  set: Readonly<Partial<Record<SharedAddress, string>>>;
  /** The reason as a clause; null if the defaults are free. */
  why: string | null;
}

/** More workspaces than anyone has; beyond them the defaults are kept. */
const MOST = 200;

const sectionName = (key: SharedAddress): 'ui' | 'gateway' => key.split('.')[0] as 'ui' | 'gateway';

function readDefaults(): Record<SharedAddress, string> {
  const { ui, gateway } = configSchema.parse({});
  return { 'ui.addr': ui.addr, 'gateway.addr': gateway.addr };
}

/** Returns the port of a key in a configuration file; null if unknown. */
function readPort(file: string, key: SharedAddress): number | null {
  try {
    const tree = readSource(file).tree as Record<string, Record<string, unknown> | undefined>;
    const own = tree[sectionName(key)]?.addr;
    return parseAddress(typeof own === 'string' ? own : readDefaults()[key]).port;
  } catch {
    return null;
  }
}

/**
 * Finds addresses for a new workspace that no other workspace of this machine uses and that are free: the defaults,
 * otherwise a pair at the same offset.
 */
export async function findFreeAddresses(home: string): Promise<FreeAddresses> {
  const neighbours = listKnownConfigFiles(home);
  const taken = new Map<number, string>();
  for (const file of neighbours)
    for (const key of SHARED_ADDRESSES) {
      const port = readPort(file, key);
      if (port !== null && port !== 0) taken.set(port, file);
    }
  const wanted = readDefaults();
  let why: string | null = null;
  for (let step = 0; step < MOST; step += 1) {
    // The step exceeds the distance between the two.
    const pair = SHARED_ADDRESSES.map((key) => {
      const { host, port } = parseAddress(wanted[key]);
      return { key, host, port: port + step * 10 };
    });
    const neighbour = pair.find(({ port }) => taken.has(port));
    const isUsed = await Promise.all(
      pair.map(async ({ host, port }) => (await findListenProblem({ host, port })) !== null),
    );
    if (neighbour === undefined && !isUsed.includes(true))
      return {
        set:
          step === 0
            ? {}
            : Object.fromEntries(pair.map(({ key, host, port }) => [key, formatAddress({ host, port })])),
        why,
      };
    why ??=
      neighbour === undefined
        ? `port ${pair[isUsed.indexOf(true)]?.port} is in use`
        : `${taken.get(neighbour.port)} uses port ${neighbour.port}`;
  }
  return { set: {}, why: null };
}
