import { SvcError } from '../../core/base/errors.ts';
import {
  checkEncoding,
  checkTime,
  createVerifier,
  LARGEST_SIGNED_BYTES,
  SCHEMES,
} from '../../core/http/signature.ts';
import { createFailures, refuseSignature } from '../../core/http/signature-failures.ts';
import { ADDONS } from '../../core/link-protocol/capabilities.ts';
import { networkOf } from '../client-address.ts';
import type { LinkedWorkspace, TargetRow } from '../database/tables.ts';
import { capabilityOf } from '../deliveries/add-target.ts';
import { readWorkspaces } from '../deliveries/chosen-workspaces.ts';
import type { ServerContext, ServerParts } from './context.ts';

const SCHEME = SCHEMES.svc;

/** A request with a valid signature. */
export interface SignedRequest {
  workspace: LinkedWorkspace;
  /** The catch URL whose secret signed it. */
  target: TargetRow;
  signature: Buffer;
  signedAt: number;
  body: Buffer;
}

/** Returns a function that reads a signed request. */
export function createSignedReader({ clock, targets, plans, workspaces }: ServerParts) {
  const failures = createFailures({ clock });

  /** Finds the signing secret. A missing workspace has none, so its existence is not revealed. */
  async function findSigner(id: string, verify: (secrets: readonly string[]) => Buffer | null) {
    const workspace = /^w_[\w-]{1,64}$/.test(id) ? await workspaces.findLinked(id) : null;
    if (workspace === null) return null;
    for (const target of await targets.list(workspace.account_id)) {
      if (!ADDONS.some((addon) => addon === target.kind)) continue;
      const signature = verify(targets.open(target).secrets);
      if (signature !== null) return { workspace, target, signature };
    }
    return null;
  }

  async function checkTarget(target: TargetRow, workspace: LinkedWorkspace): Promise<void> {
    const { capabilities } = await plans.entitlementsOf(target.account_id);
    if (!capabilities.includes(capabilityOf(target.kind)))
      throw new SvcError('capability_locked', `the add-on ${target.kind} is off`, {
        hint: 'the operator of the server enables it',
      });
    if (target.is_on !== 1 || target.paused_at !== null)
      throw new SvcError(
        'actor_denied',
        `the catch URL of ${target.kind} is ${target.is_on === 1 ? 'paused' : 'switched off'}, and cannot decide`,
        { hint: 'see its page in the settings of the account' },
      );
    const chosen = readWorkspaces(target);
    if (chosen !== null && !chosen.includes(workspace.id))
      throw new SvcError('not_found', `the catch URL of ${target.kind} is not for this workspace`);
  }

  /** The checks of every request, in the receiver's order. Nothing is parsed before the signature is verified. */
  return async function readSigned(context: ServerContext, method: 'GET' | 'POST'): Promise<SignedRequest> {
    const { headers } = context.env.incoming;
    if (context.req.method !== method)
      throw new SvcError('method_not_allowed', `this route only accepts ${method}`, {
        data: { allow: method },
      });
    checkEncoding(headers);
    const body = Buffer.from(await context.req.arrayBuffer());
    if (body.length > LARGEST_SIGNED_BYTES)
      throw new SvcError('body_too_large', `the body has more than ${LARGEST_SIGNED_BYTES} bytes`);
    const timestamp = checkTime(SCHEME, headers, clock.now());
    const signer = await findSigner(context.req.param('workspace') ?? '', (secrets) =>
      createVerifier(secrets)(SCHEME, headers, timestamp, body),
    );
    if (signer === null) throw refuseSignature(failures, networkOf(context.get('address')));
    await checkTarget(signer.target, signer.workspace);
    return { ...signer, signedAt: Number(timestamp) * 1000, body };
  };
}
