import { machine } from 'node:os';
import { SvcError } from '../../../core/base/errors.ts';
import { version } from '../../../core/base/own-package.ts';
import { toPrintable } from '../../../core/base/text.ts';
import { platform } from '../../../core/platform/index.ts';
import type { HostFacts } from '../inspect/parse-facts.ts';
import { type HostAddress, nameHost } from '../transport/address.ts';

/** The oldest Node that runs the program. */
const OLDEST = [22, 22] as const;

/** Names that mean the same processor. */
const PROCESSORS: Readonly<Record<string, string>> = { amd64: 'x86_64', arm64: 'aarch64' };
const nameProcessor = (name: string): string => PROCESSORS[name] ?? name;

/** The error for a machine that cannot run a copy of this program. */
export const unsupportedError = (address: HostAddress, reason: string): SvcError => {
  const host = nameHost(address);
  return new SvcError('runner_unsupported', `svc cannot be copied to ${host}: ${reason}`, {
    hint: `install svc ${version} there yourself, with Node ${OLDEST.join('.')} or later, so that svc --version works in a login shell`,
  });
};

/** Throws `runner_unsupported` for a machine of another kind than this one. */
export function checkKind(address: HostAddress, { system, processor, libc }: HostFacts): void {
  const own = machine();
  const ownLibc = platform.findLibc();
  if (system !== 'Linux')
    throw unsupportedError(address, `its system is ${toPrintable(system)}, and runners need Linux`);
  if (platform.name !== 'linux') throw unsupportedError(address, 'this machine has another system');
  if (nameProcessor(processor) !== nameProcessor(own))
    throw unsupportedError(
      address,
      `its processor is ${toPrintable(processor)}, and that of this machine is ${own}`,
    );
  if (libc !== null && ownLibc !== null && libc !== ownLibc)
    throw unsupportedError(address, `its C library is ${libc}, and that of this machine is ${ownLibc}`);
}

/** Returns the Node of the host that runs the program; null if ours has to be copied. */
export function chooseNode({ node }: Pick<HostFacts, 'node'>): string | null {
  if (node === null) return null;
  const [major = 0, minor = 0] = node.version.split('.').map(Number);
  const isOld = major < OLDEST[0] || (major === OLDEST[0] && minor < OLDEST[1]);
  const isOther = major !== Number(process.versions.node.split('.')[0]);
  return isOld || isOther ? null : node.path;
}
