#define _GNU_SOURCE
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <pthread.h>
#include <stdatomic.h>
#include <immintrin.h>
typedef unsigned __int128 u128;
static uint64_t key[512+8];
static double now(){struct timespec t;clock_gettime(CLOCK_MONOTONIC,&t);return t.tv_sec+1e-9*t.tv_nsec;}
typedef uint64_t fn(const char*,size_t);
static uint64_t scalar(const char*p,size_t bytes){
  u128 s0=0,s1=0; size_t w=bytes/8;
  for(size_t i=0;i+4<=w;i+=4){uint64_t m[4];memcpy(m,p+8*i,32);
   s0+=(u128)(m[0]+key[i])*(m[1]+key[i+1]);
   s1+=(u128)(m[2]+key[i+2])*(m[3]+key[i+3]);}
  s0+=s1; return (uint64_t)s0^(uint64_t)(s0>>64);
}
#define A2(name,PF) __attribute__((target("avx2"))) static uint64_t name(const char*p,size_t bytes){\
 __m256i s[4]={0}; const char*k=(const char*)key;\
 for(size_t i=0;i<bytes;i+=64){ PF \
  for(int j=0;j<2;j++){ __m256i m=_mm256_loadu_si256((const void*)(p+i+32*j));\
  __m256i a=_mm256_add_epi32(m,_mm256_loadu_si256((const void*)(k+i+32*j)));\
  __m256i b=_mm256_add_epi32(m,_mm256_loadu_si256((const void*)(k+i+32*j+8)));\
  s[2*j]=_mm256_add_epi64(s[2*j],_mm256_mul_epu32(a,_mm256_srli_epi64(a,32)));\
  s[2*j+1]=_mm256_add_epi64(s[2*j+1],_mm256_mul_epu32(b,_mm256_srli_epi64(b,32)));}}\
 s[0]=_mm256_add_epi64(s[0],s[2]);s[1]=_mm256_add_epi64(s[1],s[3]);\
 uint64_t o[8];memcpy(o,s,64);return o[0]+o[1]+o[2]+o[3]^o[4]^o[5]^o[6]^o[7];}
A2(avx2,)
A2(avx2_2k,_mm_prefetch(p+i+2048,_MM_HINT_T0);)
A2(avx2_4k,_mm_prefetch(p+i+4096,_MM_HINT_T0);)
A2(avx2_8k1,_mm_prefetch(p+i+8192,_MM_HINT_T1);)
#define A5(name,PF) __attribute__((target("avx512f"))) static uint64_t name(const char*p,size_t bytes){\
 __m512i s0=_mm512_setzero_si512(),s1=s0; const char*k=(const char*)key;\
 for(size_t i=0;i<bytes;i+=64){ PF \
  __m512i m=_mm512_loadu_si512((const void*)(p+i));\
  __m512i a=_mm512_add_epi32(m,_mm512_loadu_si512((const void*)(k+i)));\
  __m512i b=_mm512_add_epi32(m,_mm512_loadu_si512((const void*)(k+i+8)));\
  s0=_mm512_add_epi64(s0,_mm512_mul_epu32(a,_mm512_srli_epi64(a,32)));\
  s1=_mm512_add_epi64(s1,_mm512_mul_epu32(b,_mm512_srli_epi64(b,32)));}\
 return _mm512_reduce_add_epi64(s0)^_mm512_reduce_add_epi64(s1);}
A5(avx512,)
A5(avx512_2k,_mm_prefetch(p+i+2048,_MM_HINT_T0);)
A5(avx512_4k,_mm_prefetch(p+i+4096,_MM_HINT_T0);)
A5(avx512_nta,_mm_prefetch(p+i+4096,_MM_HINT_NTA);)
__attribute__((target("avx512f"))) static uint64_t readonly(const char*p,size_t bytes){__m512i s=_mm512_setzero_si512(),t=s;for(size_t i=0;i<bytes;i+=128){s=_mm512_xor_si512(s,_mm512_loadu_si512((const void*)(p+i)));t=_mm512_xor_si512(t,_mm512_loadu_si512((const void*)(p+i+64)));}return _mm512_reduce_add_epi64(s)+_mm512_reduce_add_epi64(t);}
static char*buf,*out; static size_t total; static atomic_size_t next; static fn*f; static atomic_ullong sink; static int copy; static pthread_barrier_t bar;
static void work(){uint64_t x=0;for(;;){size_t at=atomic_fetch_add(&next,128<<10);if(at>=total)break;
  if(copy)memcpy(out+(at&((32<<20)-1)),buf+at,128<<10); else for(size_t i=0;i<(128<<10);i+=4096)x+=f(buf+at+i,4096);}sink+=x;}
static void*thr(void*u){for(;;){pthread_barrier_wait(&bar);if(copy<0)return 0;work();pthread_barrier_wait(&bar);}}
int main(){
 total=(size_t)512<<20; buf=aligned_alloc(4096,total+65536);out=aligned_alloc(4096,32<<20);memset(out,0,32<<20);
 for(int i=0;i<520;i++)key[i]=((uint64_t)rand()<<33)^((uint64_t)rand()<<12)^rand();
 for(size_t i=0;i<total;i+=8)*(uint64_t*)(buf+i)=i*0x9e3779b97f4a7c15u;
 struct{const char*n;fn*f;}v[]={{"memcpy",0},{"read",readonly},{"scalar",scalar},{"avx2",avx2},{"avx2_2k",avx2_2k},{"avx2_4k",avx2_4k},{"avx2_8k1",avx2_8k1},{"avx512",avx512},{"avx512_2k",avx512_2k},{"avx512_4k",avx512_4k},{"avx512_nta",avx512_nta}};
 __builtin_cpu_init(); int has5=__builtin_cpu_supports("avx512f");
 int counts[]={1,4,8,12,16};
 for(int c=0;c<5;c++){int T=counts[c];pthread_t t[16];pthread_barrier_init(&bar,0,T+1);for(int i=0;i<T;i++)pthread_create(&t[i],0,thr,0);
  printf("%2d threads:",T);
  for(int i=0;i<11;i++){ if((i==1||i>6)&&!has5)continue; f=v[i].f;copy=i==0;double best=1e9,med[7];for(int r=0;r<7;r++){next=0;double s=now();pthread_barrier_wait(&bar);pthread_barrier_wait(&bar);med[r]=now()-s;}
   for(int a=0;a<7;a++)for(int b=a+1;b<7;b++)if(med[b]<med[a]){double q=med[a];med[a]=med[b];med[b]=q;}
   printf(" %s %.0f",v[i].n,total/med[3]*1e-9);}
  printf("\n");copy=-1;pthread_barrier_wait(&bar);for(int i=0;i<T;i++)pthread_join(t[i],0);copy=0;pthread_barrier_destroy(&bar);}
}
