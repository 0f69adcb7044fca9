/** What Google documents for calls that another model made: in place of a signature, it skips the check of one. */
export const NO_SIGNATURE = 'skip_thought_signature_validator';
