/* bench_sign MODULE TOKEN KEY PIN: signs with nothing in between. For each byte on standard input it calls C_SignInit and
 * C_Sign 32 times with the private key labelled KEY, and prints how many nanoseconds that took. */
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include "pkcs11go.h"

static void check(const char *what, CK_RV rv)
{
	if (rv != CKR_OK) {
		fprintf(stderr, "%s: 0x%lx\n", what, rv);
		exit(1);
	}
}
int main(int argc, char **argv)
{
	CK_FUNCTION_LIST_PTR f;
	CK_SLOT_ID slots[64];
	CK_ULONG n = 64, found = 0;
	CK_SESSION_HANDLE s = 0;
	CK_OBJECT_HANDLE key;
	CK_OBJECT_CLASS class = CKO_PRIVATE_KEY;
	if (argc != 5)
		return 2;
	void *h = dlopen(argv[1], RTLD_NOW);
	CK_C_GetFunctionList get = h ? (CK_C_GetFunctionList)dlsym(h, "C_GetFunctionList") : NULL;
	if (!get) {
		fprintf(stderr, "%s\n", dlerror());
		return 1;
	}
	check("C_GetFunctionList", get(&f));
	check("C_Initialize", f->C_Initialize(NULL));
	check("C_GetSlotList", f->C_GetSlotList(CK_TRUE, slots, &n));
	for (CK_ULONG i = 0; i < n && !s; i++) {
		CK_TOKEN_INFO info;
		if (f->C_GetTokenInfo(slots[i], &info) == CKR_OK && !strncmp((char *)info.label, argv[2], strlen(argv[2])))
			check("C_OpenSession", f->C_OpenSession(slots[i], CKF_SERIAL_SESSION, NULL, NULL, &s));
	}
	check("C_Login", f->C_Login(s, CKU_USER, (CK_UTF8CHAR_PTR)argv[4], strlen(argv[4])));
	CK_ATTRIBUTE template[] = { { CKA_CLASS, &class, sizeof class }, { CKA_LABEL, argv[3], strlen(argv[3]) } };
	check("C_FindObjectsInit", f->C_FindObjectsInit(s, template, 2));
	check("C_FindObjects", f->C_FindObjects(s, &key, 1, &found));
	check("C_FindObjectsFinal", f->C_FindObjectsFinal(s));
	if (found != 1)
		return 1;
	CK_BYTE digest[32] = { 0 }, signature[128];
	CK_MECHANISM ecdsa = { CKM_ECDSA, NULL, 0 };
	while (getchar() != EOF) {
		struct timespec a, b;
		clock_gettime(CLOCK_MONOTONIC, &a);
		for (int i = 0; i < 32; i++) {
			CK_ULONG length = sizeof signature;
			digest[0] = i;
			check("C_SignInit", f->C_SignInit(s, &ecdsa, key));
			check("C_Sign", f->C_Sign(s, digest, sizeof digest, signature, &length));
		}
		clock_gettime(CLOCK_MONOTONIC, &b);
		printf("%ld\n", (b.tv_sec - a.tv_sec) * 1000000000L + b.tv_nsec - a.tv_nsec);
		fflush(stdout);
	}
	check("C_Logout", f->C_Logout(s));
	check("C_CloseSession", f->C_CloseSession(s));
	check("C_Finalize", f->C_Finalize(NULL));
	return 0;
}
