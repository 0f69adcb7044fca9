import { dirname } from 'node:path';
import { isInsideFolder } from '../../../base/paths.ts';
import { isHiding, type MountedPlace } from '../../sandbox/index.ts';
import { findPinnedFolders, type MountRule, selectStrongest, sortByDepth } from '../../sandbox/rules.ts';

/** The parts of a run that its profile depends on. */
export interface ProfileSpec {
  /** The rules; one with `from` or a link cannot be expressed, and is left out. */
  places: readonly MountedPlace[];
  /** Folders in which it may listen and connect to sockets. */
  socketFolders: readonly string[];
  hasNetwork: boolean;
}

/**
 * System services that programs need, by name: users and groups, logs, preferences, certificates, name servers and
 * file events. Every other one might act outside: open an application, read the keychain or the clipboard, start a job.
 */
const SERVICES = [
  ...['system.opendirectoryd.libinfo', 'system.opendirectoryd.membership', 'bsd.dirhelper'],
  ...['system.logger', 'logd', 'system.notification_center', 'FSEvents'],
  ...['cfprefsd.daemon', 'cfprefsd.agent', 'trustd', 'trustd.agent', 'networkd', 'dnssd.service'],
  ...['SystemConfiguration.configd', 'SystemConfiguration.DNSConfiguration'],
].map((name) => `(global-name "com.apple.${name}")`);

/** TIOCSTI of sys/ttycom.h, which inserts terminal input. In decimal: older systems parse no other form. */
const TIOCSTI = 2147578994;

const BASE = `(version 1)
(deny default)
(allow process-fork process-exec)
(allow signal (target same-sandbox))
(allow process-info* (target same-sandbox))
(allow mach-lookup ${SERVICES.join(' ')})
(allow sysctl-read)
(allow user-preference-read)
(allow ipc-posix-sem ipc-posix-shm)
(allow iokit-open (iokit-registry-entry-class "RootDomainUserClient"))
(allow pseudo-tty)
(allow system-socket)
(allow file*)
(deny file-write*)`;

/** Devices, and terminals that it opens itself. */
const DEVICES = `(allow file-write* (literal "/dev/null") (literal "/dev/zero") (literal "/dev/tty") (literal "/dev/ptmx") (literal "/dev/dtracehelper") (subpath "/dev/fd"))
(allow file-write* (require-all (regex #"^/dev/ttys[0-9]+$") (extension "com.apple.sandbox.pty")))`;

/** A hard link would make a file that may be read writable under another name. */
const LAST = `(deny file-link)
(deny file-ioctl (ioctl-command ${TIOCSTI}))`;

const NETWORK = `(allow network-outbound (remote ip "*:*") (literal "/private/var/run/mDNSResponder"))
(allow network-bind (local ip "*:*"))
(allow network-inbound (local ip "*:*"))`;

/** Selects the rule at each path that can be expressed: neither a link nor one with `from`. */
export const selectRules = (places: readonly MountedPlace[]): Map<string, MountRule> =>
  selectStrongest(places.filter((place): place is MountRule => 'show' in place && place.from === undefined));

/** Lists the folders above a path, innermost first. */
function listFoldersAbove(path: string): string[] {
  const folders: string[] = [];
  for (let at = dirname(path); at !== dirname(at); at = dirname(at)) folders.push(at);
  return folders;
}

/**
 * Lists the folders that are hidden with the one around them although something in them is shown: their names must be
 * visible, so that paths in them can be resolved.
 */
export function findFoldersOnTheWay(places: readonly MountedPlace[]): Set<string> {
  const rules = [...selectRules(places).values()];
  const hidden = rules.filter(isHiding).map(({ path }) => path);
  const shown = rules.filter((place) => !isHiding(place));
  return new Set(
    shown
      .flatMap(({ path }) => listFoldersAbove(path))
      .filter((folder) => hidden.some((path) => isInsideFolder(path, folder))),
  );
}

/**
 * Builds the profile of a run for sandbox-exec(1), with the parameters that its `-D` names: the text of a path never
 * becomes part of the profile. The last rule that covers an operation applies, so the rules are ordered by depth.
 */
export function buildProfile({ places, socketFolders, hasNetwork }: ProfileSpec): {
  profile: string;
  parameters: string[];
} {
  const parameters: string[] = [];
  const name = (path: string): string => `(param "P${parameters.push(path) - 1}")`;
  const by = selectRules(places);
  const rules = sortByDepth(by.values()).map((place) => {
    const path = name(place.path);
    if (isHiding(place)) return `(deny file* (subpath ${path}))`;
    return `(allow file* (subpath ${path}))${place.show === 'write' ? '' : ` (deny file-write* (subpath ${path}))`}`;
  });
  const onTheWay = [...findFoldersOnTheWay(places)].map(
    (path) => `(allow file-read-metadata (literal ${name(path)}))`,
  );
  // A mount cannot be moved; here a folder that is moved away could be replaced by another one, or by a link.
  const written = [...by.values()].filter(({ show }) => show === 'write').map(({ path }) => path);
  const pinned = [...new Set([...findPinnedFolders(by), ...written])].map(
    (path) => `(deny file-write-unlink (literal ${name(path)}))`,
  );
  const sockets = socketFolders.map((folder) => {
    const path = name(folder);
    return `(allow network-bind (local unix-socket (subpath ${path}))) (allow network-outbound (remote unix-socket (subpath ${path})))`;
  });
  const lines = [
    BASE,
    DEVICES,
    ...rules,
    ...onTheWay,
    ...pinned,
    ...(hasNetwork ? [NETWORK] : []),
    ...sockets,
    LAST,
  ];
  return { profile: lines.join('\n'), parameters };
}
