import { join } from 'node:path';
import { readEnvironmentFlag } from '../../config/index.ts';
import { createEntitlements } from '../../core/access/entitlements.ts';
import { createLeases, fetchLease, type Link } from '../../link/index.ts';
import type { SharedDependencies } from './shared-dependencies.ts';

/** Builds the modules that know what the account of a linked workspace allows. */
export function createAccessModules(
  { paths, clock, env, config, log, closing }: SharedDependencies,
  link: { linked: Link['linked']; calls: Link['calls'] },
) {
  const leases = createLeases({
    file: join(paths.data, 'lease.json'),
    clock,
    secret: env.SVC_LEASE_SECRET,
    link() {
      const linked = link.linked();
      return linked === null || linked.revokedAt !== null
        ? null
        : { server: linked.server, workspaceId: linked.workspace, leaseKey: linked.leaseKey };
    },
    fetchLease: (nonce) => fetchLease(link.calls(), nonce),
    log,
  });
  closing(leases.close);
  const entitlements = createEntitlements({
    linked: link.linked,
    lease: leases.view,
    isLeaseRequired: readEnvironmentFlag(env, 'SVC_REQUIRE_LEASE'),
    mayBeUnlinked: readEnvironmentFlag(env, 'SVC_ALLOW_UNLINKED'),
    listProjects: () => config().projects.map(({ id }) => id),
  });
  return { leases, entitlements };
}
