import { isJsonObject } from '../../core/base/json-object.ts';
import { CONTEXT_CODE, type ProviderFault } from '../protocols/fault.ts';

/**
 * The provider's own problem according to an error of any status: its account (key, wallet, quota, region), or
 * a model that it does not have.
 */
export type ProviderTrouble = 'account' | 'model';

/** The services' own terms: codes, types, statuses and reasons. */
const WORDS: Readonly<Record<ProviderTrouble, RegExp>> = {
  account:
    /^(?:insufficient_(?:quota|balance|credits?|funds|user_quota)|exceeded_current_quota_error|quota_?exceeded|resource_exhausted|billing_(?:error|hard_limit_reached|not_active|disabled)|credit_balance_too_low|payment_required|arrearage|account_?(?:deactivated|suspended|disabled|overdue)|invalid_?api_?key|api_key_(?:invalid|expired|service_blocked)|incorrect_api_key|authentication_error|permission_denied|service_disabled|access_not_configured|unsupported_(?:country|region).*|(?:user_)?location_?not_?supported|invalidapikey|accessdenied(?:exception)?|unpurchased|allocationquota.*|1113)$/i,
  model:
    /^(?:model_?not_?(?:found|exist|supported|available|open)|modelnotfound|invalid_?model|unknown_?model|deployment_?not_?found|model_(?:deprecated|decommissioned)|no_such_model|resourcenotfound(?:exception)?|1211)$/i,
};

/** The same in sentences. Only whole phrases, because an error may quote the request and its tool names. */
const PHRASES: Readonly<Record<ProviderTrouble, RegExp>> = {
  account: new RegExp(
    [
      'credit balance is too low',
      '(?:insufficient|not enough|no remaining|run out of|ran out of|out of) (?:account )?(?:credits?|balance|funds|quota)',
      '(?:exceeded|reached|exhausted) (?:your|the|its|this) (?:\\w+ ){0,3}(?:quota|spend(?:ing)? limit|usage limit|credit limit)',
      'quota (?:has been |is |was )?(?:exceeded|exhausted|used up)',
      'billing (?:hard limit|account|is not|has not|details|issue)',
      '(?:enable|activate|check your) billing',
      'requires billing',
      'payment (?:is )?required',
      'account (?:is |has been |was )?(?:not active|inactive|suspended|deactivated|disabled|overdue|in arrears|in good standing)',
      'account is in good standing',
      '(?:invalid|incorrect|expired|missing|unknown) api[ -]?key',
      'api[ -]?key (?:not valid|is (?:not valid|invalid|incorrect|expired|missing)|expired|not found|has been (?:disabled|revoked))',
      '(?:location|country|region)(?:, \\w+|,? or territory)* (?:is )?not supported',
      'not (?:available|supported) in your (?:country|region|location)',
      '\u4f59\u989d\u4e0d\u8db3',
      '\u6b20\u8d39',
    ].join('|'),
    'i',
  ),
  model: new RegExp(
    [
      "(?:model|deployment)s?\\b[^.]{0,120}? (?:not found|(?:does|do) not exist|doesn't exist|is not (?:available|supported by (?:this|any) provider|a valid model)|has been (?:deprecated|decommissioned|retired|removed))",
      '(?:model not exist|no such model|unknown model|invalid model(?: name| id)?\\b|not a valid model|no endpoints found)',
      'deployment for this resource does not exist',
      "(?:does not|don't|do not) have access to (?:the )?(?:model|it)\\b",
      '\u6a21\u578b\u4e0d\u5b58\u5728',
    ].join('|'),
    'i',
  ),
};

/** Finds the provider's own problem in an error; null if the request caused it. */
export function findProviderTrouble(body: unknown, fault: ProviderFault): ProviderTrouble | null {
  if (fault.code === CONTEXT_CODE) return null;
  const words = listWords(body);
  for (const trouble of ['account', 'model'] as const)
    if (words.some((word) => WORDS[trouble].test(word)) || PHRASES[trouble].test(fault.message))
      return trouble;
  return null;
}

/** Lists the names that an error gives itself, on each level that services use. */
function listWords(body: unknown): string[] {
  const outer = Array.isArray(body) ? body[0] : body;
  if (!isJsonObject(outer)) return [];
  const error = isJsonObject(outer.error) ? outer.error : outer;
  const details = Array.isArray(error.details) ? error.details.filter(isJsonObject) : [];
  return [outer, error, ...details]
    .flatMap(({ code, type, status, reason, __type: shape }) => [code, type, status, reason, shape])
    .filter((word) => typeof word === 'string' || typeof word === 'number')
    .map(String);
}
