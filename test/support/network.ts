import { execFileSync } from 'node:child_process';
import { existsSync, readdirSync } from 'node:fs';
import { isRunning } from './processes/processes.ts';

const FOLDER = '/run/netns';
const PREFIX = 'svc-test-';
/** The folders of `ip` and `nft` in Debian's packages. */
const ENV = { ...process.env, PATH: `${process.env.PATH}:/usr/sbin:/sbin` };

/** Each machine with its address and that of its router; the board has no route to those behind NAT. */
const PLACES = {
  board: { address: '10.77.1.2', gateway: '10.77.1.1' },
  box2: { address: '10.77.2.2', gateway: '10.77.2.1' },
  lap: { address: '192.168.77.2', gateway: '192.168.77.1' },
  pad: { address: '192.168.78.2', gateway: '192.168.78.1' },
} as const;
const BEHIND_NAT = ['lap', 'pad'] as const;

export type Place = keyof typeof PLACES;

/**
 * A network of the test: four machines and the router between them, each a network namespace. Two of the machines are
 * behind NAT of the kernel (nftables): the router hides their addresses and lets only answers in.
 */
export interface TestNetwork {
  /** The address of a machine. */
  addressOf(place: Place): string;
  /** Words before a command that run it on a machine. */
  on(place: Place): string[];
  /** Reports whether a machine knows a way to the address of another one. */
  hasRoute(from: Place, to: Place): boolean;
  /** Reports whether a process uses the network of a machine. */
  isOn(place: Place, pid: number): boolean;
  /** Takes a machine off the network: its link is down, as of a laptop that sleeps. */
  cut(place: Place): void;
  /** Ends a cut. */
  join(place: Place): void;
  /** Loses everything that is sent to a machine, or by it, without a sign to either end. */
  lose(direction: 'to' | 'from', place: Place): void;
  /** Counts the packets that a `lose` has taken so far. */
  countLost(): number;
  /** Ends a `lose`. */
  pass(): void;
  /** Gives a machine another address in place of the first one. */
  move(place: Place, address: string): void;
  close(): void;
}

const run = (program: string, words: readonly string[], input = ''): string =>
  execFileSync(program, words, { encoding: 'utf8', env: ENV, input, stdio: 'pipe' });
const ip = (...words: string[]): string => run('ip', words);

/** The rules of the router for packets; their way from a machine behind NAT is `iifname`, the way to it `oifname`. */
const RULES = `table ip svc {
  chain leaving {
    type nat hook postrouting priority srcnat;
    oifname "board" ip saddr 192.168.0.0/16 masquerade
  }
  chain entering {
    type filter hook forward priority filter;
    oifname { ${BEHIND_NAT.join(', ')} } ct state != { established, related } drop
  }
  chain lost { type filter hook forward priority -10; }
}
`;

/** Removes the namespaces of processes that are gone. */
function removeOld(): void {
  if (!existsSync(FOLDER)) return;
  for (const name of readdirSync(FOLDER)) {
    const pid = name.startsWith(PREFIX) ? Number(name.slice(PREFIX.length).split('-')[0]) : 0;
    if (pid > 0 && pid !== process.pid && !isRunning(pid)) ip('netns', 'delete', name);
  }
}

/** Creates a network, which `close` or the end of this process removes. Throws if this system does not let it. */
export function makeNetwork(): TestNetwork {
  const nameOf = (place: string): string => `${PREFIX}${process.pid}-${place}`;
  const router = nameOf('router');
  const places = Object.keys(PLACES) as Place[];
  // `ip netns exec` would hide the cgroups too.
  const on = (name: string): string[] => ['nsenter', `--net=${FOLDER}/${name}`, '--'];
  const firewall = (commands: string): string => {
    const [program = '', ...words] = [...on(router), 'nft', '-f', '-'];
    return run(program, words, commands);
  };

  function close(): void {
    process.off('exit', close);
    const left = existsSync(FOLDER) ? readdirSync(FOLDER) : [];
    for (const name of [router, ...places.map(nameOf)]) if (left.includes(name)) ip('netns', 'delete', name);
  }

  function join(place: Place): void {
    ip('-n', nameOf(place), 'link', 'set', 'up0', 'up');
    const { gateway } = PLACES[place];
    const target = place === 'board' ? '10.77.0.0/16' : 'default';
    ip('-n', nameOf(place), 'route', 'replace', target, 'via', gateway);
  }

  removeOld();
  process.once('exit', close);
  try {
    for (const name of [router, ...places.map(nameOf)]) {
      ip('netns', 'add', name);
      ip('-n', name, 'link', 'set', 'lo', 'up');
    }
    for (const place of places) {
      const { address, gateway } = PLACES[place];
      const name = nameOf(place);
      ip(
        ...['link', 'add', 'up0', 'netns', name, 'type', 'veth'],
        ...['peer', 'name', place, 'netns', router],
      );
      ip('-n', name, 'address', 'add', `${address}/24`, 'dev', 'up0');
      ip('-n', router, 'address', 'add', `${gateway}/24`, 'dev', place);
      ip('-n', router, 'link', 'set', place, 'up');
      join(place);
    }
    const [program = '', ...words] = [...on(router), 'sh', '-c', 'echo 1 > /proc/sys/net/ipv4/ip_forward'];
    run(program, words);
    firewall(RULES);
  } catch (error) {
    close();
    throw error;
  }

  return {
    addressOf: (place) => PLACES[place].address,
    on: (place) => on(nameOf(place)),
    hasRoute(from, to) {
      try {
        return ip('-n', nameOf(from), 'route', 'get', PLACES[to].address) !== '';
      } catch {
        return false;
      }
    },
    isOn: (place, pid) => ip('netns', 'identify', String(pid)).trim() === nameOf(place),
    cut: (place) => void ip('-n', nameOf(place), 'link', 'set', 'up0', 'down'),
    join,
    lose: (direction, place) =>
      void firewall(
        `add rule ip svc lost ${direction === 'to' ? 'oifname' : 'iifname'} "${place}" counter drop\n`,
      ),
    countLost: () =>
      [...firewall('list chain ip svc lost\n').matchAll(/packets (\d+)/g)].reduce(
        (sum, [, count]) => sum + Number(count),
        0,
      ),
    pass: () => void firewall('flush chain ip svc lost\n'),
    move(place, address) {
      ip('-n', nameOf(place), 'address', 'flush', 'dev', 'up0');
      ip('-n', nameOf(place), 'address', 'add', `${address}/24`, 'dev', 'up0');
      join(place);
    },
    close,
  };
}

function findObstacle(): string | false {
  if (process.getuid?.() !== 0) return 'only root makes networks';
  try {
    makeNetwork().close();
    return false;
  } catch (error) {
    const { stderr, message } = error as { stderr?: string; message: string };
    return `no networks can be made here: ${(stderr || message).trim().split('\n')[0]}`;
  }
}

/** Why no networks can be made here; false if they can. */
export const NO_NETWORKS: string | false = findObstacle();
