// JobSet's controller for a machine that it shares with others.
//
// Upstream's own program keeps the certificate of its webhooks in a fixed folder of its container. This one is made of
// the same parts (sigs.k8s.io/jobset/pkg) and keeps it where the configuration says: webhook.certDir.
package main

import (
	"flag"
	"net/http"
	"os"

	"github.com/open-policy-agent/cert-controller/pkg/rotator"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	utilruntime "k8s.io/apimachinery/pkg/util/runtime"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/healthz"
	"sigs.k8s.io/controller-runtime/pkg/log/zap"
	metricsserver "sigs.k8s.io/controller-runtime/pkg/metrics/server"
	configapi "sigs.k8s.io/jobset/api/config/v1alpha1"
	jobset "sigs.k8s.io/jobset/api/jobset/v1alpha2"
	"sigs.k8s.io/jobset/pkg/config"
	"sigs.k8s.io/jobset/pkg/controllers"
	"sigs.k8s.io/jobset/pkg/webhooks"
)

const namespace = "jobset-system"

func main() {
	file := flag.String("config", "", "the configuration")
	metrics := flag.String("metrics-bind-address", ":8443", "where metrics are")
	health := flag.String("health-probe-bind-address", ":8081", "where probes are answered")
	options := zap.Options{}
	options.BindFlags(flag.CommandLine)
	flag.Parse()
	ctrl.SetLogger(zap.New(zap.UseFlagOptions(&options)))
	if err := run(*file, *metrics, *health); err != nil {
		ctrl.Log.Error(err, "ended")
		os.Exit(1)
	}
}

func run(file, metrics, health string) error {
	scheme := runtime.NewScheme()
	for _, add := range []func(*runtime.Scheme) error{clientgoscheme.AddToScheme, jobset.AddToScheme, configapi.AddToScheme} {
		utilruntime.Must(add(scheme))
	}
	options, settings, err := config.Load(scheme, file)
	if err != nil {
		return err
	}
	options.Metrics = metricsserver.Options{BindAddress: metrics, SecureServing: true}
	options.HealthProbeBindAddress = health
	options.LeaderElectionNamespace = namespace
	access := ctrl.GetConfigOrDie()
	access.QPS, access.Burst = *settings.ClientConnection.QPS, int(*settings.ClientConnection.Burst)
	manager, err := ctrl.NewManager(access, options)
	if err != nil {
		return err
	}
	certified := make(chan struct{})
	service := *settings.InternalCertManagement.WebhookServiceName
	err = rotator.AddRotator(manager, &rotator.CertRotator{
		SecretKey:      types.NamespacedName{Namespace: namespace, Name: *settings.InternalCertManagement.WebhookSecretName},
		CertDir:        settings.Webhook.CertDir,
		CAName:         "jobset-ca",
		CAOrganization: "jobset",
		DNSName:        service + "." + namespace + ".svc",
		IsReady:        certified,
		Webhooks: []rotator.WebhookInfo{
			{Type: rotator.Validating, Name: "jobset-validating-webhook-configuration"},
			{Type: rotator.Mutating, Name: "jobset-mutating-webhook-configuration"},
		},
	})
	if err != nil {
		return err
	}
	stopping := ctrl.SetupSignalHandler()
	if err := controllers.SetupJobSetIndexes(stopping, manager.GetFieldIndexer()); err != nil {
		return err
	}
	if err := controllers.SetupPodIndexes(stopping, manager.GetFieldIndexer()); err != nil {
		return err
	}
	go func() {
		<-certified
		utilruntime.Must(setUp(manager))
	}()
	utilruntime.Must(manager.AddHealthzCheck("healthz", healthz.Ping))
	utilruntime.Must(manager.AddReadyzCheck("readyz", func(request *http.Request) error {
		select {
		case <-certified:
			return manager.GetWebhookServer().StartedChecker()(request)
		default:
			return http.ErrServerClosed
		}
	}))
	return manager.Start(stopping)
}

func setUp(manager ctrl.Manager) error {
	client, scheme := manager.GetClient(), manager.GetScheme()
	events := manager.GetEventRecorderFor
	if err := controllers.NewJobSetReconciler(client, scheme, events("jobset")).SetupWithManager(manager); err != nil {
		return err
	}
	if err := controllers.NewPodReconciler(client, scheme, events("pod")).SetupWithManager(manager); err != nil {
		return err
	}
	sets, err := webhooks.NewJobSetWebhook(client)
	if err != nil {
		return err
	}
	if err := sets.SetupWebhookWithManager(manager); err != nil {
		return err
	}
	return webhooks.NewPodWebhook(client).SetupWebhookWithManager(manager)
}
